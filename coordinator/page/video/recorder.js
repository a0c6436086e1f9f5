(rate, width, height) => {
  // Draws the frames of a page, with what is done in it, and encodes them. It runs in a page of
  // its own. next() returns what the encoder has made since, in base64.
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { alpha: false });
  let frame, ratio = 1, recorder, track;
  const chunks = [];
  let made = 0; // bytes
  const thumbnails = []; // of the latest actions

  const begin = () => {
    canvas.width = (width || frame.width) & ~1;
    canvas.height = (height || frame.height) & ~1;
    const stream = canvas.captureStream(0);
    [track] = stream.getVideoTracks();
    recorder = new MediaRecorder(stream, { mimeType: "video/webm;codecs=vp8", videoBitsPerSecond: 2_500_000 });
    recorder.ondataavailable = ({ data }) => {
      chunks.push(data);
      made += data.size;
    };
    recorder.start(1000);
  };

  const drawAction = ({ title, area, at, pointer }) => {
    if (area) {
      context.strokeStyle = "#e8590c";
      context.lineWidth = 3;
      context.strokeRect(area.x * ratio - 2, area.y * ratio - 2, area.width * ratio + 4, area.height * ratio + 4);
    }
    if (pointer) {
      context.setTransform(1, 0, 0, 1, at.x * ratio, at.y * ratio);
      const arrow = new Path2D("M0 0V17L4 13.5 6.5 19.5 9.5 18.2 7 12.5H12Z");
      context.fillStyle = "#e8590c";
      context.fill(arrow);
      context.strokeStyle = "white";
      context.lineWidth = 1.5;
      context.stroke(arrow);
      context.resetTransform();
    }
    if (title) {
      const size = Math.max(12, Math.round(canvas.height / 36));
      context.font = `${size}px sans-serif`;
      const most = canvas.width - 2 * size;
      let text = title;
      while (text.length > 1 && context.measureText(text).width > most) text = text.replace(/.…?$/u, "…");
      context.fillStyle = "rgb(0 0 0 / 75%)";
      context.fillRect(0, canvas.height - 2 * size, context.measureText(text).width + 2 * size, 2 * size);
      context.fillStyle = "white";
      context.textBaseline = "middle";
      context.fillText(text, size, canvas.height - size);
    }
  };

  // An action's thumbnail is of the moment when its element was ready; without an element it is
  // of the last one in which the action is shown.
  const keep = (action) => {
    let last = thumbnails.at(-1);
    if (last?.number !== action.number) {
      last = { canvas: new OffscreenCanvas(256, Math.min(512, Math.round((256 * canvas.height) / canvas.width))) };
      thumbnails.push(last);
      if (thumbnails.length > 20) thumbnails.shift();
    }
    if (last.area) return;
    Object.assign(last, action);
    const { width } = last.canvas;
    last.canvas.getContext("2d").drawImage(canvas, 0, 0, width, (width * canvas.height) / canvas.width);
  };

  // The storyboard: up to four thumbnails in a row, each with the number and the title of its action.
  globalThis.storyboard = async () => {
    if (thumbnails.length === 0) return "";
    const line = 22;
    const width = thumbnails[0].canvas.width + 8;
    const height = Math.max(...thumbnails.map((each) => each.canvas.height)) + line + 8;
    const columns = Math.min(4, thumbnails.length);
    const sheet = new OffscreenCanvas(columns * width + 8, Math.ceil(thumbnails.length / columns) * height + 8);
    const context = sheet.getContext("2d");
    context.fillStyle = "white";
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.font = "13px sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = "black";
    thumbnails.forEach(({ canvas, number, title }, n) => {
      const x = 8 + (n % columns) * width;
      const y = 8 + Math.floor(n / columns) * height;
      let text = `${number}. ${title}`;
      while (context.measureText(text).width > canvas.width) text = text.replace(/.…?$/u, "…");
      context.fillText(text, x, y + line / 2);
      context.drawImage(canvas, x, y + line);
    });
    return base64(await sheet.convertToBlob({ type: "image/jpeg", quality: 0.8 }));
  };

  const encoded = () => base64(new Blob(chunks.splice(0)));

  const base64 = async (blob) => {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(text);
  };

  const draw = (action) => {
    const scale = Math.min(canvas.width / frame.width, canvas.height / frame.height);
    context.drawImage(frame, 0, 0, frame.width * scale, frame.height * scale);
    drawAction(action);
    if (action.number) keep(action);
    track.requestFrame();
  };

  globalThis.next = async ({ image, view, actions }) => {
    const latest = actions.pop();
    if (frame) actions.splice(0).forEach(draw); // they began before the image
    if (image) {
      const bytes = Uint8Array.from(atob(image), (character) => character.charCodeAt(0));
      frame?.close();
      frame = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
      if (!recorder) begin();
      ratio = Math.min(canvas.width / frame.width, canvas.height / frame.height) * frame.width / view;
    }
    if (frame) [...actions, latest].forEach(draw);
    return encoded();
  };

  // The last frame ends the video: it is drawn once more, and gets the time to be encoded. The
  // encoder may take a while to begin.
  globalThis.end = async () => {
    if (!recorder) return "";
    const before = made;
    for (let tries = 0; tries < 50 && made === before; tries++) {
      draw({});
      await new Promise((done) => setTimeout(done, 2000 / rate));
      recorder.requestData();
      await new Promise((done) => recorder.addEventListener("dataavailable", done, { once: true }));
    }
    await new Promise((done) => {
      recorder.onstop = done;
      recorder.stop();
    });
    return encoded();
  };
}
