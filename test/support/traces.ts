/**
 * Everything of a running local system that people, programs or other tenants can read without being meant to see secrets: its
 * logs, metrics, process lists, what Kubernetes shows of all but Secrets, and what its database holds.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { STREAMER_PORT } from '../../src/streams/names.ts';
import type { System } from './system.ts';

const run = promisify(execFile);
const MAX_BYTES = 256 * 2 ** 20;

/** Where something was read, and what was there. */
type Place = [where: string, text: string];

const readable = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // It has ended in the meantime.
    return '';
  }
};

async function logs({ stateDir }: System): Promise<Place[]> {
  const files = (await readdir(stateDir, { recursive: true })).filter((name) => /\.log(\.\d+)?$/.test(name));
  return Promise.all(files.map(async (name): Promise<Place> => [name, await readFile(join(stateDir, name), 'latin1')]));
}

/** The arguments of all processes of the machine, and the environment of those that run in pods. */
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

/** A setting of one of the system's own servers, as its process has it. */
function settingOf({ stateDir }: System, server: string, setting: string): string {
  for (const file of readdirSync(join(stateDir, 'pids'))) {
    const { name, pid } = JSON.parse(readable(join(stateDir, 'pids', file))) as { name: string; pid: number };
    const line = readable(`/proc/${pid}/environ`)
      .split('\0')
      .find((one) => one.startsWith(`${setting}=`));
    if (name === server && line !== undefined) return line.slice(setting.length + 1);
  }
  throw new Error(`${server} has no ${setting}`);
}

const fetched = async (url: string): Promise<Place> => [url, await (await fetch(url)).text()];

async function metrics(system: System, podIps: string[]): Promise<Place[]> {
  const servers = ['api', 'operator'].map((name) => settingOf(system, name, 'LOOPSTREAM_OPS_PORT'));
  const pods = podIps.flatMap((ip) => ['metrics', 'stats'].map((path) => `http://${ip}:${STREAMER_PORT}/${path}`));
  return Promise.all([...servers.map((port) => `http://127.0.0.1:${port}/metrics`), ...pods].map(fetched));
}

/** All objects of all kinds but Secrets: specs, statuses, annotations and events. */
async function kubernetes({ stateDir, facts }: System): Promise<{ places: Place[]; podIps: string[] }> {
  const options = { env: { HOME: stateDir, KUBECONFIG: facts.kubeconfig }, maxBuffer: MAX_BYTES };
  const kubectl = async (...args: string[]) => (await run(join(stateDir, 'bin/kubectl'), args, options)).stdout;
  const kinds = (await kubectl('api-resources', '--verbs=list', '-o', 'name')).trim().split('\n');
  const shown = kinds.filter((kind) => kind !== 'secrets');
  const objects = await kubectl('get', shown.join(','), '--all-namespaces', '-o', 'json', '--show-managed-fields');
  const { items } = JSON.parse(objects) as { items: { kind: string; status?: { podIP?: string; phase?: string } }[] };
  const running = items.filter(({ kind, status }) => kind === 'Pod' && status?.phase === 'Running');
  return { places: [['objects of Kubernetes', objects]], podIps: running.flatMap(({ status }) => status?.podIP ?? []) };
}

/** Each row of each table, as text. */
async function database(system: System): Promise<Place[]> {
  const client = new pg.Client({ connectionString: settingOf(system, 'api', 'LOOPSTREAM_DATABASE_URL') });
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

/** All of it. A pod that runs is asked for what it shows. */
export async function everywhere(system: System): Promise<Place[]> {
  const { places, podIps } = await kubernetes(system);
  const rest = await Promise.all([logs(system), metrics(system, podIps), database(system)]);
  return [...places, ...processes(), ...rest.flat()];
}
