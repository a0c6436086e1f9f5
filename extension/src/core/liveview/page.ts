// The page of the live view: src/webview/live.ts runs in it, in a panel of the editor and in `coordinator show`.
import * as l10n from "@vscode/l10n";
import { html } from "../plaintext";
import { annotationsLimit } from "../window/notelimits";

/** Lines in a square of 16. */
const icons = {
  back: "M13 8H3M7.5 3.5L3 8l4.5 4.5",
  forward: "M3 8h10M8.5 3.5L13 8l-4.5 4.5",
  reload: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M12.2 1.2v3.2H9",
  follow: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6",
  rotate: "M2.5 9.5h6v4h-6zM10.5 13.5h3v-7h-4v3M4 7a4.5 4.5 0 0 1 4.5-4.5M6.8 1L8.5 2.5 6.8 4",
  out: "M3 8h10",
  in: "M3 8h10M8 3v10",
  pick: "M6.5 13H3V3h10v3.5M7.5 7.5l6.5 2.3-2.8 1.4L9.8 14z",
  draw: "M2.5 13.5l.8-3 7.6-7.6a1.5 1.5 0 0 1 2.2 2.2L5.5 12.7zM9.5 4.3l2.2 2.2",
  drive:
    "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3M2.1 7l4.5.6M13.9 7l-4.5.6M8 9.5V14",
  input: "M4 6a4 4 0 0 1 8 0v4a4 4 0 0 1-8 0zM8 2v4M4 6.5h8",
};

/** `shown` is beside an icon that the user would have to guess. */
function button(id: keyof typeof icons, label: string, more = "", shown = ""): string {
  const text = html(label);
  return `<button class="tool" id="${id}" type="button" title="${text}" aria-label="${text}"${more}>
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="${icons[id]}"/></svg>${html(shown)}</button>`;
}

/** The view's page. Its texts are here, since its script has no translations. */
export function body(): string {
  const levels = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4].map(
    (level) => `<option value="${level}">${level * 100} %</option>`,
  );
  const follow = l10n.t("Follow the Agent's Tab");
  const pick = l10n.t("Pick an Element");
  const note = l10n.t("Click the element, or move with the arrow keys and press Enter. Escape cancels.");
  const draw = l10n.t("Draw for an Agent");
  const drawing = l10n.t(
    "Drag around what you mean, or click it. Keys: arrows move, Space begins an area, Enter takes it, Escape ends.",
  );
  const input = l10n.t("Send Mouse and Keyboard to the Page");
  const sent = l10n.t("Your mouse and keyboard go to the page. Shift+Escape stops it.");
  const takeOver = l10n.t("Take Over: the Actions of Agents Wait");
  const title = html(l10n.t("Live View"));
  return `<main aria-label="${title}"><h1 class="unseen">${title}</h1>
    <div id="bar" hidden>
      <select id="pages" aria-label="${html(l10n.t("Page"))}"></select>
      <span id="tools">${button("follow", follow, ` aria-pressed="false" hidden`, l10n.t("Follow"))}
        <select id="device" aria-label="${html(l10n.t("Device Size"))}" hidden>
          <option value="">${html(l10n.t("Window Size"))}</option>
          <option value="phone">${html(l10n.t("Phone"))}</option>
          <option value="tablet">${html(l10n.t("Tablet"))}</option>
          <option value="desktop">${html(l10n.t("Desktop"))}</option></select>
        ${button("rotate", l10n.t("Rotate"), ` aria-disabled="true" hidden`)}
        ${button("out", l10n.t("Zoom Out"))}
        <select id="zoom" aria-label="${html(l10n.t("Zoom"))}">
          <option value="fit">${html(l10n.t("Fit"))}</option>${levels.join("")}</select>
        ${button("in", l10n.t("Zoom In"))}
        ${button("pick", pick, ` aria-pressed="false" data-note="${html(note)}"`, l10n.t("Pick"))}
        ${button("draw", draw, ` aria-pressed="false" data-note="${html(drawing)}"`, l10n.t("Draw"))}
        ${button("input", input, ` aria-pressed="false" data-note="${html(sent)}"`, l10n.t("Mouse and Keyboard"))}
        ${button("drive", takeOver, ` aria-pressed="false" hidden`, l10n.t("Take Over"))}</span>
    </div>
    <p id="driving" class="driving" role="status" hidden><span>${html(l10n.t("You drive"))}</span><span id="waiting"></span></p>
    <div id="line" hidden><span>${button("back", l10n.t("Back"), ` aria-disabled="true"`)}
        ${button("forward", l10n.t("Forward"), ` aria-disabled="true"`)}
        ${button("reload", l10n.t("Reload the Page"))}</span>
      <form id="go" novalidate><input id="address" aria-label="${html(l10n.t("Address"))}" autocomplete="off"
        autocapitalize="off" spellcheck="false"></form></div>
    <div id="stage" hidden><div id="screen">
      <div id="picture"><canvas id="canvas" width="0" height="0" role="img" tabindex="0"
          aria-label="${html(l10n.t("The page"))}"></canvas>
        <div id="marks"><span id="targets"></span><span id="places"></span><span id="box" hidden></span><span
          id="cross" hidden></span></div></div>
    </div>${composer()}</div>
    <div id="foot" hidden><span id="note" role="status"></span>
      <button id="retry" type="button" hidden>${html(l10n.t("Retry"))}</button>
      <button id="cancel" type="button" hidden>${html(l10n.t("Cancel"))}</button></div>
    ${dialog()}
    <div id="empty" hidden><p id="why"></p>
      <button id="start" type="button" hidden>${html(l10n.t("Start Debugging"))}</button></div></main>`;
}

/** Where the user writes to an agent about what they have picked and drawn. */
function composer(): string {
  const comment = html(l10n.t("What the agent should know or do"));
  const labels = `data-comment="${html(l10n.t("Comment"))}" data-remove="${html(l10n.t("Remove"))}"`;
  const area = `data-area="${html(l10n.t("An area that no element covers"))}"`;
  return `<form id="compose" aria-label="${html(l10n.t("Note to an agent"))}" hidden>
      <ol id="picked" ${labels} ${area}></ol>
      <textarea id="comment" rows="2" maxlength="2000" aria-label="${comment}" placeholder="${comment}"></textarea>
      <select id="agents" aria-label="${html(l10n.t("Agent"))}"></select>
      <button id="send">${html(l10n.t("Send"))}</button>
      <button id="discard" type="button">${html(l10n.t("Discard"))}</button>
      <span id="full" hidden>${html(l10n.t("A note is about at most {0} places.", annotationsLimit))}</span>
      <span id="alone">${html(l10n.t("No agent is connected."))}</span></form>`;
}

/** Where the dialog of the page is shown, which in a headless browser nobody sees. */
function dialog(): string {
  const labels = `data-ok="${html(l10n.t("OK"))}" data-leave="${html(l10n.t("Leave"))}"`;
  const others = `data-cancel="${html(l10n.t("Cancel"))}" data-stay="${html(l10n.t("Stay"))}"`;
  const leave = html(l10n.t("Leave this page? What was entered there may be lost."));
  return `<div id="dialog" role="alertdialog" aria-labelledby="asker" aria-describedby="message" hidden>
      <h2 id="asker">${html(l10n.t("The page shows a dialog"))}</h2>
      <p id="message" data-leave="${leave}"></p>
      <form id="answer"><input id="reply" aria-label="${html(l10n.t("Your answer"))}" autocomplete="off">
        <button id="accept" ${labels}></button><button id="dismiss" type="button" ${others}></button></form></div>`;
}
