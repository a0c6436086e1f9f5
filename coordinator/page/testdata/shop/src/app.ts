import { Cart } from "./cart";

const cart = new Cart();

function buy(name: string, price: number): void {
  const total = cart.add({ name, price });
  console.warn(`the cart costs ${total}`);
}

document.querySelector("#good")!.addEventListener("click", () => buy("tea", 3));
document.querySelector("#bad")!.addEventListener("click", () => buy("coffee", -1));
