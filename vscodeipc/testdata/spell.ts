// Answers each path, a line of JSON on its input, by its canonical form and hash, or by its fault.
import { text } from "node:stream/consumers";
import { hashOf, PathError, spell } from "../../extension/src/core/address/identity";

const platforms: Record<string, NodeJS.Platform> = { linux: "linux", darwin: "darwin", windows: "win32" };

async function verdict({ system, hex }: { system: string; hex: string }): Promise<string> {
  try {
    const canonical = spell(Buffer.from(hex, "hex"), platforms[system] as NodeJS.Platform);
    return `${canonical} ${await hashOf(canonical)}`;
  } catch (error) {
    if (error instanceof PathError) return error.fault;
    throw error;
  }
}

const cases = (await text(process.stdin)).trim().split("\n");
for (const each of cases) console.log(JSON.stringify(await verdict(JSON.parse(each))));
