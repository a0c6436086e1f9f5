// What the live view's page reports, and what the view does about it.
import type { DeviceName } from "./device";
import type { Box } from "./element";
import type { LiveView, Show } from "./liveview";
import type { KeyInput, MouseInput } from "./screencast";

/** The messages of the live view's page. */
export type Message =
  | { type: "ready" | "resize"; width: number; height: number }
  | { type: "choose"; page: string }
  | { type: "follow"; following: boolean }
  /** The user is at something that another page would end. */
  | { type: "busy"; busy: boolean }
  | { type: "navigate"; address: string }
  /** Without a name: the size of the page's window. */
  | { type: "device"; name?: DeviceName; turned: boolean }
  | { type: "drawn"; number: number }
  | { type: "mouse"; event: MouseInput }
  | { type: "key"; event: KeyInput }
  | { type: "point"; x: number; y: number; chosen: boolean }
  | { type: "answerDialog"; number: number; accept: boolean; text: string }
  | { type: "takeOver"; taken: boolean }
  | { type: "drawOn"; area: Box }
  | { type: "comment"; id: number; text: string }
  | { type: "remove"; id: number }
  | { type: "sendNote"; client: string; text: string }
  | { type: "hidden" | "discardNote" | "retry" | "back" | "forward" | "reload" | "start" | "cancelAsked" };

/** Does what the user wants, where that is the same wherever the view is shown. */
export function receive(live: LiveView, message: Message, show: Show): void {
  if (message.type === "ready") live.open(show, message);
  else if (message.type === "resize") live.resize(message);
  else if (message.type === "choose") live.choose(message.page);
  else if (message.type === "follow") live.follow(message.following);
  else if (message.type === "busy") live.setBusy(message.busy);
  else if (message.type === "drawn") live.drawn(message.number);
  else if (message.type === "hidden") live.hide();
  else if (message.type === "retry") live.retry();
  else if (message.type === "navigate") live.navigate(message.address);
  else if (message.type === "device") live.setDevice(message.name, message.turned);
  else if (message.type === "back") live.go(-1);
  else if (message.type === "forward") live.go(1);
  else if (message.type === "reload") live.reload();
  else if (message.type === "cancelAsked") live.cancelRequest();
  else if (message.type === "answerDialog") live.answerDialog(message.number, message.accept, message.text);
  else if (message.type === "drawOn") void live.annotate(message.area);
  else if (message.type === "comment") live.comment(message.id, message.text);
  else if (message.type === "remove") live.remove(message.id);
  else if (message.type === "discardNote") live.discardNote();
  else if (message.type === "mouse") live.mouse(message.event);
  else if (message.type === "key") live.key(message.event);
}
