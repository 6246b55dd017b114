/**
 * Collects every place of a running local system that people, programs or other tenants can read, but that must hold no secret. The places
 * are logs, metrics, process lists, Kubernetes objects except Secrets, and the database.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import {
  COMPONENT_LABEL,
  STREAMER_METRICS_PORT,
  STREAMER_PORT,
  VIEW_KEY_KEY,
  VIEW_KEY_SECRET,
} from '../../../src/core/resources/common/names.ts';
import { viewToken } from '../../../src/core/resources/stream/view-token.ts';
import { kubectl } from '../kubectl.ts';
import type { Shared } from './system.ts';

/** The name of a place, and its text. */
export type Place = [where: string, text: string];

const readable = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process has ended in the meantime.
    return '';
  }
};

/** Returns the logs of all parts of a system. */
export async function readLogs(system: Shared): Promise<Place[]> {
  const { stateDir } = system;
  try {
    const files = (await readdir(stateDir, { recursive: true })).filter((name) => /\.log(\.\d+)?$/.test(name));
    return await Promise.all(
      files.map(async (name) => [name, await readFile(join(stateDir, name), 'latin1')] as Place),
    );
  } catch (error) {
    // A pod's logs vanished during the read: the remaining ones are read anew.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(stateDir)) return readLogs(system);
    throw error;
  }
}

/** Returns the arguments of all processes of the machine, and the environment of those in pods. */
const processes = (): Place[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid): Place[] => {
      const environment = readable(`/proc/${pid}/environ`);
      const isInPod = environment.includes('LOOPSTREAM_NODE_CONTAINER=');
      return [
        [`arguments of ${pid}`, readable(`/proc/${pid}/cmdline`)],
        ...(isInPod ? ([[`environment of ${pid}`, environment]] satisfies Place[]) : []),
      ];
    });

/** Returns the process id of one of the system's own servers, e.g. `api`. */
export function findServer({ stateDir }: Shared, server: string): number {
  for (const file of readdirSync(join(stateDir, 'pids'))) {
    const { name, pid } = JSON.parse(readable(join(stateDir, 'pids', file))) as { name: string; pid: number };
    if (name === server) return pid;
  }
  throw new Error(`${server} does not run`);
}

/** Returns the environment of one of the system's own servers, as its process has it. */
export function readEnvironment(system: Shared, server: string): Record<string, string> {
  const settings = readable(`/proc/${findServer(system, server)}/environ`).split('\0');
  return Object.fromEntries(settings.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
}

export function readSetting(system: Shared, server: string, setting: string): string {
  const value = readEnvironment(system, server)[setting];
  if (value === undefined) throw new Error(`${server} has no ${setting}`);
  return value;
}

/** Returns a secret's possible encodings: plain, in JSON and URLs, and in base64 and base64url at each of three byte offsets. */
export function listEncodings(secret: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    // The letters at both ends depend on the neighbouring bytes.
    return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const inUrl = encodeURIComponent(secret);
  const escaped = secret.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const base64url = encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  // The logs are read as latin1, byte by byte.
  const plain = [secret, Buffer.from(secret).toString('latin1'), escaped, JSON.stringify(secret).slice(1, -1)];
  return [...new Set([...plain, inUrl, inUrl.toLowerCase(), ...encoded, ...base64url])];
}

/** Follows all commands of a Redis; `dump` returns them and its content. */
export async function watchRedis(url: string): Promise<{ dump(): Promise<Place[]>; close(): void }> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const asked: string[] = [];
  monitor.on('monitor', (_time: string, args: string[]) => asked.push(args.join(' ')));
  const readContent = async (key: string): Promise<string> => {
    const type = await redis.type(key);
    if (type === 'string') return (await redis.get(key)) ?? '';
    if (type === 'hash') return JSON.stringify(await redis.hgetall(key));
    throw new Error(`nobody reads a ${type} of Redis here`);
  };
  return {
    dump: async () => {
      const keys = await redis.keys('*');
      const held = await Promise.all(keys.map(async (key) => `${key} ${await readContent(key)}`));
      return [
        ['what Redis holds', held.join('\n')],
        ['what Redis was asked', asked.join('\n')],
      ];
    },
    close: () => {
      monitor.disconnect();
      redis.disconnect();
    },
  };
}

export const fetchPlace = async (url: string, headers: Record<string, string> = {}): Promise<Place> => [
  url,
  await (await fetch(url, { headers })).text(),
];

/** A running streamer's pod. */
interface Streamer {
  ip: string;
  /** The token that its readers present. */
  token: string;
}

async function metrics(system: Shared, streamers: Streamer[]): Promise<Place[]> {
  const servers = ['api', 'operator'].map((name) => readSetting(system, name, 'LOOPSTREAM_OPS_PORT'));
  const pods = streamers.flatMap(({ ip, token }) => [
    fetchPlace(`http://${ip}:${STREAMER_METRICS_PORT}/metrics`),
    fetchPlace(`http://${ip}:${STREAMER_PORT}/stats`, { authorization: `Bearer ${token}` }),
  ]);
  return Promise.all([...servers.map((port) => fetchPlace(`http://127.0.0.1:${port}/metrics`)), ...pods]);
}

interface Shown {
  kind: string;
  metadata: { labels?: Record<string, string>; ownerReferences?: { uid: string }[] };
  status?: { podIP?: string; phase?: string };
}

/** Returns all objects of all kinds except Secrets: specs, statuses, annotations and events. */
async function kubernetes(system: Shared): Promise<{ places: Place[]; streamers: Streamer[] }> {
  const kinds = (await kubectl(system, 'api-resources', '--verbs=list', '-o', 'name')).trim().split('\n');
  const shown = kinds.filter((kind) => kind !== 'secrets');
  const objects = await kubectl(
    system,
    'get',
    shown.join(','),
    '--all-namespaces',
    '-o',
    'json',
    '--show-managed-fields',
  );
  const { items } = JSON.parse(objects) as { items: Shown[] };
  const running = items.filter(
    ({ kind, metadata, status }) =>
      kind === 'Pod' && metadata.labels?.[COMPONENT_LABEL] === 'streamer' && status?.phase === 'Running',
  );
  const key = async () => {
    const path = `jsonpath={.data.${VIEW_KEY_KEY}}`;
    const text = await kubectl(system, 'get', 'secret', VIEW_KEY_SECRET, '-o', path);
    return Buffer.from(text, 'base64').toString();
  };
  const viewKey = running.length > 0 ? await key() : '';
  const streamers = running.flatMap(({ metadata, status }) => {
    const token = viewToken(viewKey, metadata.ownerReferences?.[0]?.uid ?? '');
    return status?.podIP === undefined ? [] : [{ ip: status.podIP, token }];
  });
  return { places: [['objects of Kubernetes', objects]], streamers };
}

/** Returns each row of each table as text. */
async function database(system: Shared): Promise<Place[]> {
  const client = new pg.Client({ connectionString: readSetting(system, 'api', 'LOOPSTREAM_DATABASE_URL') });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const places: Place[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      places.push([`table ${name}`, rows.map(({ text }) => text).join('\n')]);
    }
    return places;
  } finally {
    await client.end();
  }
}

/** Returns all places. A running streamer is asked for its status too. */
export async function listPlaces(system: Shared): Promise<Place[]> {
  const { places, streamers } = await kubernetes(system);
  const rest = await Promise.all([readLogs(system), metrics(system, streamers), database(system)]);
  return [...places, ...processes(), ...rest.flat()];
}
