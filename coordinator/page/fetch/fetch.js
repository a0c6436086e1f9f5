async function ({ url, mark, method, headers, body, limit }) {
  // A request as the page itself would make it; its body in base64.
  let policy = "";
  const forbidden = (e) => { policy = e.effectiveDirective; };
  document.$addEventListener("securitypolicyviolation", forbidden);
  try {
    const address = new URL(url, document.$baseURI);
    // By its fragment the browser's side knows the request.
    if (mark) address.hash = mark;
    const r = await fetch(address, { method, headers: headers ?? {}, body, credentials: "include" });
    const parts = [];
    let size = 0, truncated = false;
    for (const reader = r.body?.getReader(); reader;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value.subarray(0, limit - size));
      size += value.length;
      if (size > limit) {
        truncated = true;
        await reader.cancel();
        break;
      }
    }
    const encoded = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
      reader.readAsDataURL(new Blob(parts));
    });
    const type = (r.headers.get("content-type") ?? "").split(";")[0].trim();
    return {
      url: r.url,
      status: r.status,
      text: r.statusText,
      headers: Object.fromEntries(r.headers),
      mimeType: type,
      body: size ? encoded : "",
      truncated,
    };
  } catch (e) {
    // The report of a violation comes as a task of its own.
    await new Promise((done) => setTimeout(done));
    return { error: String(e), policy };
  } finally {
    document.$removeEventListener("securitypolicyviolation", forbidden);
  }
}
