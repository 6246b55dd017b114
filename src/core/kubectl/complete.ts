/**
 * Completes a command line for kubectl, which runs `kubectl_complete-loop` with the words behind `kubectl loop`, the last of which
 * is being typed. Each line of the answer is a candidate with its description behind a tab; the last line is a directive.
 */

import { NAMESPACES } from '../kube/core.ts';
import { KubeError, type KubeObject, type Resource } from '../kube/types.ts';
import { COMMANDS } from './commands.ts';
import { allFlags, parseCommandLine } from './parse.ts';
import type { Command, CommandFlag, Completed } from './shell/call.ts';
import type { Cluster, ClusterFlags } from './shell/cluster.ts';
import { getResource } from './shell/objects.ts';
import { toLine } from './shell/table.ts';

/** Cobra's directive for a shell: names of files are no candidates. */
const NO_FILES = ':4';
/** A person waits for this at the keyboard. */
const TIMEOUT_MS = 3_000;
const MAX_NAMES = 500;

type Named = KubeObject<{ displayName?: string }, unknown>;

/** Candidates, one a line. Without a cluster there are none, and no error: a shell has no place for it. */
export async function complete(words: readonly string[]): Promise<string> {
  const candidates = await findCandidates(words).catch(() => []);
  const typed = words.at(-1) ?? '';
  return [...candidates.filter((candidate) => candidate.startsWith(typed)), NO_FILES, ''].join('\n');
}

async function findCandidates(words: readonly string[]): Promise<string[]> {
  const [name = '', ...rest] = words;
  if (rest.length === 0) return Object.entries(COMMANDS).map(([word, { summary }]) => `${word}\t${summary}`);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) return [];
  const before = rest.slice(0, -1);
  const typed = rest.at(-1) ?? '';
  const awaited = findAwaitedFlag(command, before.at(-1));
  if (awaited)
    return [
      ...(awaited.values ?? []),
      ...(awaited.names ? await listNames(command, before.slice(0, -1), awaited.names) : []),
    ];
  if (typed.startsWith('-'))
    return Object.entries(allFlags(command)).map(([flag, { description }]) => `--${flag}\t${description}`);
  const { names } = command.arguments;
  return names ? listNames(command, before, names) : [];
}

/** The flag whose value is being typed. */
function findAwaitedFlag(command: Command, word = ''): CommandFlag | undefined {
  const found = Object.entries(allFlags(command)).find(
    ([flag, { short }]) => word === `--${flag}` || (short && word === `-${short}`),
  );
  return found?.[1].type === 'string' ? found[1] : undefined;
}

/** Names that are not given yet, in the namespace that the words before name. */
async function listNames(command: Command, before: readonly string[], kind: Completed): Promise<string[]> {
  const { args, flags } = parseCommandLine(
    { ...command, arguments: { min: 0, max: Number.POSITIVE_INFINITY } },
    before,
  );
  if (args.length >= command.arguments.max) return [];
  const { openCluster } = await import('./shell/cluster.ts');
  const cluster = openCluster(flags as ClusterFlags);
  try {
    const names = await readNames(cluster, kind);
    return names.filter((candidate) => !args.includes(candidate.split('\t', 1)[0] ?? ''));
  } finally {
    await cluster.kube.close();
  }
}

async function readNames(cluster: Cluster, kind: Completed): Promise<string[]> {
  const read = async (resource: Resource, prefix = '') => {
    const page = await cluster.kube
      .page(resource as Resource<Named>, {
        ...(resource.namespaced && { namespace: cluster.namespace }),
        limit: MAX_NAMES,
        timeoutMs: TIMEOUT_MS,
      })
      .catch((error: unknown) => {
        if (error instanceof KubeError) return { items: [] };
        throw error;
      });
    return page.items.map(({ metadata, spec }) => {
      const shown = toLine(spec?.displayName ?? '');
      return `${prefix}${metadata.name}${shown ? `\t${shown}` : ''}`;
    });
  };
  switch (kind) {
    case 'streams':
      return read(getResource('stream'));
    case 'uploads':
      return read(getResource('upload'));
    case 'destinations':
      return read(getResource('destination'));
    case 'namespaces':
      return read(NAMESPACES);
    case 'objects': {
      const all = [
        read(getResource('stream')),
        read(getResource('upload'), 'upload/'),
        read(getResource('playlist'), 'playlist/'),
        read(getResource('destination'), 'destination/'),
      ];
      return (await Promise.all(all)).flat();
    }
  }
}
