// What the answers to a question are called, wherever it is shown.
import * as l10n from "@vscode/l10n";
import { siteOf } from "../plaintext";
import { categoryName, connecting, showingRecording } from "./actions";
import { type AskedAction, type Choice, choicesFor, sharedCategory, sharedOrigin } from "./permission";

export interface AnswerText {
  choice: Choice;
  icon: string;
  label: string;
  /** What a button in the status bar shows. */
  short: string;
  about: string;
}

/** The answers to a question about these actions; a window may have only some of them. */
export function answersTo(actions: readonly AskedAction[], choices = choicesFor(actions)): AnswerText[] {
  return choices.map((choice) => ({ choice, ...textOf(choice, actions) }));
}

function textOf(choice: Choice, actions: readonly AskedAction[]): Omit<AnswerText, "choice"> {
  const origin = sharedOrigin(actions);
  const site = origin === undefined ? undefined : siteOf(origin);
  const one = (icon: string, label: string, about: string, short = label) => ({ icon, label, about, short });
  switch (choice) {
    case "once":
      return one("check", l10n.t("Allow Once"), l10n.t("Only what is asked now."));
    case "category": {
      const name = categoryName(sharedCategory(actions) ?? "") ?? "";
      const label = l10n.t("Allow {0} for This Session on {1}", name, site ?? l10n.t("Every Site"));
      const about =
        site === undefined
          ? l10n.t("Only this kind of action, on every site, until the agent leaves.")
          : l10n.t("Only this kind of action, and only on this site, until the agent leaves.");
      return one("check", label, about, l10n.t("Allow {0}", name));
    }
    case "session": {
      const about = l10n.t("Everything on this site, and on no other, until the agent leaves.");
      const label = l10n.t("Allow for This Session on {0}", site ?? "");
      return one("check-all", label, about, l10n.t("Allow on {0}", site ?? ""));
    }
    case "connect":
      return one("check", l10n.t("Allow"), l10n.t("Everything, until the program has been away for a minute."));
    case "view":
      return one("eye", l10n.t("View Only"), l10n.t("It may look at pages, and change nothing."));
    case "refuse": {
      if (actions[0]?.act === showingRecording)
        return one("debug-stop", l10n.t("End Recording"), l10n.t("The agent gets what it has recorded."));
      const about = actions[0]?.act === connecting ? l10n.t("It cannot connect.") : l10n.t("The agent gets an error.");
      return one("circle-slash", l10n.t("Refuse"), about);
    }
  }
}
