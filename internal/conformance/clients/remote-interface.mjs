import CDP from "chrome-remote-interface";
import { size } from "./png.mjs";

/** What chrome-remote-interface sees. It knows no path prefix; `alterPath` is its way to have one. */
export async function remoteInterface({ address, site, name }) {
  const { hostname: host, port, pathname } = new URL(address);
  const prefix = pathname.replace(/\/$/, "");
  const options = { host, port, alterPath: (path) => prefix + path };
  const { Browser: version } = await CDP.Version(options);
  const protocol = await CDP.Protocol(options);
  const created = await CDP.New({ ...options, url: `${site}/shop/${name}` });
  const listed = await CDP.List(options);
  const seen = {
    version,
    domains: protocol.domains.map(({ domain }) => domain),
    shared: listed.some(({ url }) => url === `${site}/shop/shared`),
    created: [created.type, listed.some(({ id }) => id === created.id)],
  };
  const client = await CDP({ ...options, target: created.id });
  try {
    const { Page, Runtime } = client;
    const logged = new Promise((resolve) => Runtime.consoleAPICalled(({ args }) => resolve(args[0].value)));
    await Promise.all([Page.enable(), Runtime.enable()]);
    const evaluate = async (expression) => (await Runtime.evaluate({ expression, awaitPromise: true })).result.value;
    await Page.navigate({ url: `${site}/shop/${name}` });
    // Not Page.loadEventFired: that may be of the load with which the tab was made.
    await evaluate(
      "new Promise((loaded) => " +
        "document.readyState === 'complete' ? loaded() : addEventListener('load', () => loaded()))",
    );
    seen.title = await evaluate("document.title");
    seen.sum = await evaluate("6 * 7");
    seen.error = (await Runtime.evaluate({ expression: "missing" })).exceptionDetails.exception.className;
    seen.refused = await client.send("No.such").catch(({ message }) => message);
    await evaluate("document.getElementById('name').value = 'Ada'; buy()");
    seen.answer = await evaluate("document.getElementById('answer').textContent");
    seen.logged = await logged;
    seen.screenshot = size(Buffer.from((await Page.captureScreenshot()).data, "base64"));
  } finally {
    await client.close();
  }
  await CDP.Activate({ ...options, id: created.id });
  await CDP.Close({ ...options, id: created.id });
  return seen;
}
