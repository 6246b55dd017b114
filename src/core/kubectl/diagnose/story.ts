/** Writes the story of an object as text: what is wrong with its fixes, and below it the facts. Pure: no I/O, no clock. */
import type { KubeEvent, Pod } from '../../kube/core.ts';
import type { Stored } from '../../kube/types.ts';
import type { Condition } from '../../resources/common/conditions.ts';
import { formatAge } from '../shell/age.ts';
import { formatTable, toLine } from '../shell/table.ts';
import type { Word } from './words.ts';

export interface DiagnosedFact {
  message: string;
  fix?: string;
}

export interface StorySection {
  title: string;
  /** Rows of cells, which stand in columns. */
  rows: string[][];
}

export interface Story {
  summary: string;
  findings: DiagnosedFact[];
  sections: StorySection[];
  /** Facts that could not be read, as sentences. */
  unseen: string[];
}

const LAST_WORDS = 8;

function formatSection({ title, rows }: StorySection): string {
  const count = Math.max(...rows.map((cells) => cells.length));
  const columns = Array.from({ length: count }, (_, index) => ({
    name: '',
    read: (row: string[]) => row[index] ?? '',
  }));
  const [, ...lines] = formatTable(columns, rows).trimEnd().split('\n');
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

const formatFinding = ({ message, fix }: DiagnosedFact, index: number): string =>
  `${index + 1}. ${toLine(message)}\n${fix ? `   ${toLine(fix)}\n` : ''}`;

export const formatStory = ({ summary, findings, sections, unseen }: Story): string =>
  [
    `${toLine(summary)}\n`,
    findings.length > 0 ? findings.map(formatFinding).join('') : 'Nothing is wrong with it.\n',
    ...sections.filter(({ rows }) => rows.length > 0).map(formatSection),
    ...(unseen.length > 0 ? [`Not visible\n${[...new Set(unseen)].map((one) => `  ${toLine(one)}\n`).join('')}`] : []),
  ].join('\n');

/** Each message once. */
export const mergeFindings = (...lists: readonly (readonly DiagnosedFact[])[]): DiagnosedFact[] => {
  const all = lists.flat();
  return all.filter(({ message }, index) => all.findIndex((one) => one.message === message) === index);
};

export const listConditions = (conditions: readonly Condition[] | undefined, now: Date): StorySection => ({
  title: 'Conditions',
  rows: (conditions ?? []).map(({ type, status, lastTransitionTime, message }) => [
    type,
    status,
    formatAge(lastTransitionTime, now),
    message,
  ]),
});

/** Newer events have a time of their own, and no time of the last one. */
export const readEventTime = (event: Stored<KubeEvent>): string =>
  event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;

export const listEvents = (events: readonly Stored<KubeEvent>[], now: Date): StorySection => ({
  title: 'Events',
  rows: events.map((event) => [
    formatAge(readEventTime(event), now),
    event.type ?? '',
    `${event.reason ?? ''}${(event.count ?? 1) > 1 ? ` (${event.count} times)` : ''}`,
    event.message ?? '',
  ]),
});

export const listWords = (words: readonly Word[]): StorySection => ({
  title: 'Last words of the pod',
  rows: words
    .filter(({ isAccepted }) => !isAccepted)
    .slice(-LAST_WORDS)
    .map(({ time, destination, message }) => [time.replace(/\.\d+Z$/, 'Z'), destination ?? '', message]),
});

function describePod(pod: Pod, now: Date): string[] {
  const { metadata, spec, status } = pod;
  const containers = status?.containerStatuses ?? [];
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const waiting = containers.map(({ state }) => state?.waiting?.reason).find((reason) => reason !== undefined);
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  const state = metadata.deletionTimestamp ? 'Terminating' : (waiting ?? status?.reason ?? status?.phase ?? 'Unknown');
  return [
    metadata.name,
    isReady ? `${state}, ready` : state,
    spec.nodeName === undefined ? 'no node' : `node ${spec.nodeName}`,
    `${restarts} restarts`,
    `${formatAge(metadata.creationTimestamp, now)} old`,
  ];
}

export const listPods = (pods: readonly Pod[], now: Date): StorySection => ({
  title: 'Pods',
  rows: pods.map((pod) => describePod(pod, now)),
});

/** How the containers of pods ended by force or with an error, with what helps. */
export const findCrashes = (pods: readonly Pod[], now: Date): DiagnosedFact[] =>
  pods.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? []).flatMap(({ name, state, lastState }): DiagnosedFact[] => {
      const end = state?.terminated ?? lastState?.terminated;
      if (!end || end.exitCode === 0) return [];
      const ago = formatAge(end.finishedAt, now);
      const message = `Container "${name}" of pod "${metadata.name}" ended${ago ? ` ${ago} ago` : ''} with status ${end.exitCode}${end.reason ? ` (${end.reason})` : ''}.`;
      const isHungry = end.reason === 'OOMKilled';
      return [
        {
          message,
          fix: isHungry
            ? 'Raise the memory limit in spec.template.resources of the stream, or in the values of the release for a preparation.'
            : 'Read its log with --previous: kubectl loop logs.',
        },
      ];
    }),
  );
