// The size of the page: that of its window, or a device's.
import { editor } from "./editor";
import { part } from "./part";

const select = part<HTMLSelectElement>("device");
const rotate = part("rotate");

let turned = false;

/** Only a browser gives a page a size, not its debugger. */
export function offerDevices(offered: boolean): void {
  select.hidden = rotate.hidden = !offered;
}

export function showDevice({ name = "", turned: isTurned }: { name?: string; turned: boolean }): void {
  select.value = name;
  turned = isTurned;
  document.body.dataset.device = name;
  rotate.ariaDisabled = String(name === ""); // disabled, it would lose the focus
}

function choose(isTurned: boolean): void {
  editor.postMessage({ type: "device", name: select.value || undefined, turned: isTurned });
}

export function listenToDevice(): void {
  select.addEventListener("change", () => choose(false));
  rotate.addEventListener("click", () => select.value && choose(!turned));
}
