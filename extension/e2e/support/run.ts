/** What a run of the tests has made, and hands to each of them. */
export interface Run {
  /** Everything of this run is below it. */
  root: string;
  /** The VS Code's web address. */
  url: string;
  /** What the VS Code and the coordinator run with. */
  env: Record<string, string>;
  sockets: string;
  browser: string;
  coordinator: string;
  chromedp: string;
  /** Where screenshots are kept. */
  artifacts: string;
}
