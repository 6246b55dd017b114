/** Keeps the state of the local system between runs, under one directory that only its owner can read. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The facts of a running system, for people's scripts: `<state-dir>/local.json`, mode 0600, there only while it runs. */
export interface LocalFacts {
  /** REST, GraphQL, the tools, the page, the key and the account are null with --operator-only. */
  apiUrl: string | null;
  graphqlUrl: string | null;
  /** The address of the agents' tools. */
  mcpUrl: string | null;
  apiKey: string | null;
  /** For signing in to the page; the password is null when its owner has chosen another one. */
  email: string | null;
  password: string | null;
  /** The database of accounts and money, for `loopstream admin`; null with --operator-only. */
  databaseUrl: string | null;
  kubeconfig: string;
  /** The address where the local receiver takes streams. */
  rtmpUrl: string;
  /** Address of the page; the fragment signs the local account in and is never sent to a server. */
  pageUrl: string | null;
  demoStreamId: string | null;
  /** The page of the mailbox in which every mail of this system ends; the same as JSON is at `mails.json` beside it. */
  mailUrl: string | null;
  /** The address of the local chain; null without --crypto. */
  chainUrl: string | null;
  /** The HTTP-FLV address of the local receiver: `<playUrl>/<key>.flv`. */
  playUrl: string;
  pid: number;
}

/**
 * State that outlives a run: the local account's key and password, the secret that signs sessions, the stream to put on
 * air again.
 */
export interface LocalMemory {
  authSecret: string;
  apiKey?: string;
  password?: string;
  demoStreamId?: string;
  /** The source of the demo's import. */
  demoMediaUrl?: string;
}

export interface LocalState {
  readonly dir: string;
  path(...segments: string[]): string;
  readMemory(): LocalMemory;
  writeMemory(memory: LocalMemory): void;
  readFacts(): LocalFacts | undefined;
  writeFacts(facts: LocalFacts): void;
  removeFacts(): void;
}

function writePrivate(path: string, value: unknown): void {
  writeFileSync(`${path}.tmp`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

function readJson<T>(path: string): T | undefined {
  try {
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : undefined;
  } catch {
    // A file cut by a full disk or a crash is as good as none: what it held is made anew.
    return undefined;
  }
}

export function openState(dir: string): LocalState {
  // Postgres runs as another user when we are root, so its directory must be reachable: the files carry the privacy.
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  const path = (...segments: string[]) => join(dir, ...segments);
  const facts = path('local.json');
  const memory = path('memory.json');
  return {
    dir,
    path,
    readMemory: () => readJson<LocalMemory>(memory) ?? { authSecret: randomBytes(32).toString('base64url') },
    writeMemory: (value) => writePrivate(memory, value),
    readFacts: () => readJson<LocalFacts>(facts),
    writeFacts: (value) => writePrivate(facts, value),
    removeFacts: () => rmSync(facts, { force: true }),
  };
}
