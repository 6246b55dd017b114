/** Tells the story of a stream. */

import type { Pod } from '../../kube/core.ts';
import { findFix } from '../../lib/codes/codes.ts';
import { describeRefusal } from '../../lib/codes/destinations.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { STREAM_LABEL } from '../../resources/common/names.ts';
import { DESTINATIONS, type Destination } from '../../resources/destination/resource.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { ON_AIR_FOR_VIEWERS } from '../../resources/stream/viewers.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { formatAge } from '../shell/age.ts';
import { listPodsOf } from '../streams/logs.ts';
import { explain, listProblems } from '../streams/problems.ts';
import { describeDestinationRow } from './destination.ts';
import type { Reader } from './facts.ts';
import {
  type DiagnosedFact,
  findCrashes,
  listConditions,
  listEvents,
  listPods,
  listWords,
  mergeFindings,
  type Story,
  type StorySection,
} from './story.ts';
import { describeUploadRow, findUploadFaults } from './upload.ts';
import { findRefusals, type Word } from './words.ts';

export async function tellStream(reader: Reader, name: string, now: Date): Promise<Story> {
  const { kube, namespace } = reader;
  const stream = await kube.get(LOOPSTREAMS, namespace, name);
  const { spec } = stream;
  const pods = await reader.attempt<Pod[]>(listPodsOf(kube, namespace, STREAM_LABEL, name), []);
  const [destinations, uploads, words, events] = await Promise.all([
    Promise.all(
      listReceivers(spec).map((ref) =>
        reader.attempt<Destination | undefined>(kube.get(DESTINATIONS, namespace, ref), undefined),
      ),
    ),
    Promise.all(
      listUploads(stream).map((ref) =>
        reader.attempt<Upload | undefined>(kube.get(UPLOADS, namespace, ref), undefined),
      ),
    ),
    pods[0] ? reader.words(pods[0]) : [],
    reader.events({ kind: 'LoopStream', name }, ...pods.map(({ metadata }) => ({ kind: 'Pod', name: metadata.name }))),
  ]);
  const there = <T>(one: T | undefined): one is T => one !== undefined;
  return {
    summary: summarize(stream, now),
    findings: findFaults(stream, { pods, words, uploads: uploads.filter(there), now }),
    sections: [
      listConditions(stream.status?.conditions, now),
      { title: 'Destinations', rows: destinations.filter(there).map((one) => describeDestinationRow(one, now)) },
      { title: 'Media', rows: uploads.filter(there).map(describeUploadRow) },
      listUnplayable(stream),
      listPods(pods, now),
      listWords(words),
      listEvents(events, now),
    ],
    unseen: reader.unseen,
  };
}

/** The upload of a stream, or those of its items that cannot be played. */
const listUploads = ({ spec, status }: LoopStream): string[] => [
  ...new Set([
    ...(spec.uploadName === undefined ? [] : [spec.uploadName]),
    ...(status?.unplayable?.items ?? []).flatMap(({ upload }) => upload ?? []),
  ]),
];

function summarize(stream: LoopStream, now: Date): string {
  const { metadata, spec, status } = stream;
  const { why, since } = explain(stream);
  const shown = spec.displayName ? ` (${spec.displayName})` : '';
  const age = formatAge(since, now);
  return `Stream "${metadata.name}"${shown} is ${status?.phase ?? 'unknown'}${age ? `, since ${age} ago` : ''}.${why ? ` ${why}` : ''}`;
}

interface Seen {
  pods: readonly Pod[];
  words: readonly Word[];
  uploads: readonly Upload[];
  now: Date;
}

/** A destination's own words name the obstacle better than the condition that sums them up. */
const SUMMED_UP = new Set(['destination_reconnecting', 'reconnecting', 'starting']);

function findFaults(stream: LoopStream, { pods, words, uploads, now }: Seen): DiagnosedFact[] {
  const isRunning = ['starting', 'live', 'reconnecting'].includes(stream.status?.phase ?? '');
  const refusals = isRunning ? findRefusals(words).map(findRefusal) : [];
  const problems = listProblems(stream).filter(({ code }) => refusals.length === 0 || !SUMMED_UP.has(code));
  const faults = uploads.flatMap((upload) => findUploadFaults(upload));
  return mergeFindings(problems, refusals, faults, findCrashes(pods, now), findUnknownViewers(stream));
}

/** It may pass within a minute, so `status` does not name it. */
function findUnknownViewers({ status }: LoopStream): DiagnosedFact[] {
  const found = findCondition(status?.conditions, ON_AIR_FOR_VIEWERS);
  return found?.status === 'Unknown' ? [{ message: found.message }] : [];
}

function findRefusal({ destination = '', code, message }: Word): DiagnosedFact {
  const fix = findFix(code, 'destination');
  return {
    message: describeRefusal(destination, message),
    fix: [fix, `Test it while no stream uses it: kubectl loop test ${destination}`].filter(Boolean).join(' '),
  };
}

const listUnplayable = ({ status }: LoopStream): StorySection => ({
  title: 'Items that are left out',
  rows: (status?.unplayable?.items ?? []).map(({ playlist, index, upload, message }) => [
    playlist === undefined ? (upload ?? '') : `${playlist} #${(index ?? 0) + 1}`,
    message,
  ]),
});
