// Every vector of specs/window-protocol, against a window on a real socket.
import Ajv2020 from "ajv/dist/2020";
import { describe, expect, test } from "vitest";
import { formatLine, LineReader, parseLine } from "../../src/core/protocol/framing";
import { bytesOf, commandVectors, invalidVectors, messageVectors, onlyKnown, schema } from "../support/vectors";
import { serve } from "../support/window";

const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(schema());
const root = "urn:browser-coordinator:window-protocol:2";
const kinds = { request: "Request", response: "Response", event: "Event" };

function fault(def: string, value: unknown): string {
  const validate = ajv.getSchema(`${root}#/$defs/${def}`);
  if (!validate) throw new Error(`the schema has no ${def}`);
  return validate(value) ? "" : ajv.errorsText(validate.errors);
}

test("a vector with an unknown member fails, as section 13 requires", () => {
  expect(() => onlyKnown({ name: "", path: "" }, "name", "path", "hex")).not.toThrow();
  expect(() => onlyKnown({ name: "", expects: {} }, "name", "expect")).toThrow("expects");
});

describe("valid messages", () => {
  const vectors = messageVectors();
  test("are there", () => expect(vectors.length).toBeGreaterThan(20));

  test.each(vectors)("$name fits the schema and survives the framing", ({ kind, def, line }) => {
    expect(fault(kinds[kind], line)).toBe("");
    if (def) expect(fault(def, (def === "Error" ? line.error : line.payload) ?? {})).toBe("");
    const [read] = [...new LineReader().read(Buffer.from(formatLine(line)))];
    expect(parseLine(read as Uint8Array)).toEqual(line);
  });

  const requests = vectors.filter(({ kind }) => kind === "request");
  test.each(requests)("$name is answered by a response of the schema", async ({ line }) => {
    const { dial } = await serve();
    const client = await dial();
    client.send(line);
    const id = line.id as string | number;
    const answer = await client.until((each) => each.id === id);
    expect(fault("Response", answer)).toBe("");
    // The vectors' own commands and sessions are not this window's.
    if (line.type !== "call") expect(answer.success).toBe(true);
    const answers: Record<string, string> = {
      hello: "Hello",
      state: "StateAnswer",
      listen: "StateAnswer",
      cancel: "CancelAnswer",
    };
    const def = answers[line.type as string];
    if (def && answer.success) expect(fault(def, answer.payload)).toBe("");
  });
});

describe("invalid messages", () => {
  const vectors = invalidVectors();
  test("are there", () => expect(vectors.length).toBeGreaterThan(50));

  test.each(vectors)("$name: $description", async ({ lines, expect: expected }) => {
    const { dial } = await serve();
    const client = await dial();
    for (const piece of lines) client.socket.write(bytesOf(piece));
    const answer = await client.until((line) => line.success === false);
    expect(fault("Response", answer)).toBe("");
    expect(answer.id).toBe(expected.id);
    const { code, data } = answer.error as { code: string; data?: object };
    expect(code).toBe(expected.code);
    if (expected.data) expect(data).toMatchObject(expected.data);
    if (expected.closes) {
      await client.end();
      expect(client.lines.at(-1)).toMatchObject({ type: "bye", payload: { reason: expected.code } });
    } else {
      expect((await client.ask("cancel", { id: "none" })).payload).toEqual({ cancelled: false });
    }
  });
});

describe("commands", () => {
  const vectors = commandVectors();
  test("are there", () => expect(vectors.length).toBeGreaterThan(11));

  test.each(vectors)("$name fits the schema", ({ command, arg, result }) => {
    const name = command.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
    expect(fault(`${name}Arg`, arg)).toBe("");
    expect(fault(`${name}Result`, result)).toBe("");
  });
});
