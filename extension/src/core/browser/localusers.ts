// Who else uses this machine, as far as it matters for a debugging port: every local user can read the port in
// the system's tables and drive the browser through it. See adr/0032-a-debugging-port-only-without-other-users.md.
//
// These are pure functions of what the system reports; systemusers.ts asks the system.

/** The first uid of people; those below are the accounts of services. */
const firstPerson = { linux: 1_000, darwin: 500 };
/** Above it are the account "nobody" and ids for "none". */
const lastPerson = 2 ** 31 - 1;

export interface LinuxSample {
  /** The user of this process. */
  own: { uid: number; name: string };
  /** The users of all processes. */
  processes: Iterable<number>;
  /** The users with a login session. */
  loggedIn: Iterable<number>;
  /** The entries of the account database for `toLookUp`, as lines of passwd(5). */
  passwd: string;
  /** /etc/subuid: the ids that users may take in their own containers. */
  subuid: string;
}

/**
 * The users whose accounts decide whether they are people. Root is none of them: it can do everything anyway,
 * with or without a port.
 */
export function toLookUp({ own, processes, loggedIn }: Omit<LinuxSample, "passwd" | "subuid">): number[] {
  const people = [...processes].filter((uid) => uid >= firstPerson.linux);
  return [...new Set([...people, ...loggedIn])].filter((uid) => uid !== own.uid && uid !== 0);
}

/** The other people on this Linux, by name: those with an account that has a shell. */
export function othersOnLinux(sample: LinuxSample): string[] {
  const accounts = new Map(sample.passwd.split("\n").map((line) => [Number(line.split(":")[2]), line.split(":")]));
  const loggedIn = new Set(sample.loggedIn);
  const found = toLookUp(sample).map((uid) => {
    const account = accounts.get(uid);
    if (account) return hasShell(account[6] ?? "") ? account[0] : undefined;
    // A directory of accounts may be out of reach, but a session has a person. Other ids without an account are
    // those of containers: a user's own ones count for that user, the others only root can start.
    return subordinateOwner(uid, sample) ?? (loggedIn.has(uid) ? `uid ${uid}` : undefined);
  });
  return [...new Set(found)].filter((name) => name !== undefined);
}

/** An account without a shell is one of a service. No shell at all means /bin/sh. */
function hasShell(shell: string): boolean {
  return !/(^|\/)(nologin|false)$/.test(shell);
}

function subordinateOwner(uid: number, { subuid, own }: LinuxSample): string | undefined {
  for (const line of subuid.split("\n")) {
    const [owner = "", start, count] = line.split(":");
    if (owner === own.name || owner === String(own.uid) || owner === "root" || owner === "0") continue;
    if (uid >= Number(start) && uid < Number(start) + Number(count)) return owner;
  }
  return undefined;
}

/**
 * The other people on this macOS, of `ps -axo uid=,ruid=`. Their shells are not asked for: the answer may come
 * from a directory on the network, and services have ids below those of people.
 */
export function othersOnMac(processes: string, own: number): string[] {
  const uids = new Set(processes.split(/\s+/).filter(Boolean).map(Number));
  return [...uids]
    .filter((uid) => uid >= firstPerson.darwin && uid <= lastPerson && uid !== own)
    .map((uid) => `uid ${uid}`);
}

/**
 * The other people on this Windows, by SID: those whose registry hive is loaded, which it is while they are
 * logged in or run something. Of `reg query HKU` and `whoami /user`; services have SIDs of other kinds.
 */
export function othersOnWindows(hives: string, whoami: string): string[] {
  // Local and domain accounts, and those of Entra ID; SID_Classes is a part in a separate hive.
  const people = [...hives.matchAll(/^HKEY_USERS\\(S-1-(?:5-21|12-1)-[-\d]+)\s*$/gim)].map(([, sid = ""]) => sid);
  const own = whoami.match(/S-1-\d+(?:-\d+)+/)?.[0];
  if (own === undefined) throw new Error("whoami does not name a SID");
  return [...new Set(people)].filter((sid) => sid !== own);
}
