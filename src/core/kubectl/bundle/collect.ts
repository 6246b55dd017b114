/** Collects the files of a support bundle: what the account may not see is named in one of them. */
import { stringify } from 'yaml';
import { EVENTS, JOBS, PODS, type Pod } from '../../kube/core.ts';
import type { Kube, KubeObject, ListOptions, Resource, Stored } from '../../kube/types.ts';
import { forEachConcurrently } from '../../lib/pool.ts';
import { MANAGED_BY, MANAGED_BY_LABEL } from '../../resources/common/names.ts';
import { DESTINATIONS } from '../../resources/destination/resource.ts';
import { PLAYLISTS } from '../../resources/playlist/resource.ts';
import { SCENES } from '../../resources/scene/resource.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { UPLOADS } from '../../resources/upload/resource.ts';
import { listOperators, listVersions, readKubernetesVersion } from '../about/version.ts';
import { Reader } from '../diagnose/facts.ts';
import { formatStory } from '../diagnose/story.ts';
import { tellStream } from '../diagnose/stream.ts';
import { formatTable } from '../shell/table.ts';
import { listContainers, logPath } from '../streams/logs.ts';
import { listProblems } from '../streams/problems.ts';
import { buildColumns, describeState } from '../streams/rows.ts';
import { redactResource, redactText, summarizeEvent, summarizeJob, summarizePod } from './redact.ts';
import type { ArchiveFile } from './tar.ts';

/** Diagnosed streams: those with problems first. */
const MAX_STORIES = 20;
const MAX_PODS = 100;
const LOG = { tailLines: 5_000, limitBytes: 1024 * 1024 };
const MAX_LOGS_BYTES = 64 * 1024 * 1024;
const CONCURRENCY = 4;

export interface BundleOptions {
  kube: Kube;
  /** Where the operator and, unless `allNamespaces`, the streams are looked for. */
  namespace: string;
  allNamespaces: boolean;
  now: Date;
}

const toYaml = (objects: readonly unknown[]): string =>
  stringify(objects, { aliasDuplicateObjects: false, lineWidth: 0 });

/** Pods with a restart, or that are not ready, come first: their logs are wanted most. */
const hasTrouble = ({ status }: Pod): boolean =>
  status?.phase !== 'Running' ||
  (status.containerStatuses ?? []).some(({ ready, restartCount }) => !ready || restartCount > 0);

export async function collectBundle({ kube, namespace, allNamespaces, now }: BundleOptions): Promise<ArchiveFile[]> {
  const reader = new Reader(kube, namespace);
  const where: ListOptions = allNamespaces ? {} : { namespace };
  const ours: ListOptions = { ...where, labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}` };
  const list = <T extends KubeObject>(resource: Resource<T>, options = where) =>
    reader.attempt<Stored<T>[]>(kube.list(resource, options), []);
  const [streams, uploads, playlists, scenes, destinations, jobs, events, pods, operators, kubernetes] =
    await Promise.all([
      list(LOOPSTREAMS),
      list(UPLOADS),
      list(PLAYLISTS),
      list(SCENES),
      list(DESTINATIONS),
      list(JOBS, ours),
      list(EVENTS),
      list(PODS, ours),
      reader.attempt<Pod[]>(listOperators(kube, namespace), []),
      reader.attempt(readKubernetesVersion(kube), 'unknown'),
    ]);
  const versions = listVersions(kubernetes, operators, pods);
  const files = [
    { path: 'versions.yaml', content: toYaml([versions]) },
    { path: 'resources/loopstreams.yaml', content: toYaml(streams.map(redactResource)) },
    { path: 'resources/uploads.yaml', content: toYaml(uploads.map(redactResource)) },
    { path: 'resources/playlists.yaml', content: toYaml(playlists.map(redactResource)) },
    { path: 'resources/scenes.yaml', content: toYaml(scenes.map(redactResource)) },
    { path: 'resources/destinations.yaml', content: toYaml(destinations.map(redactResource)) },
    { path: 'pods.yaml', content: toYaml([...operators, ...pods].map(summarizePod)) },
    { path: 'jobs.yaml', content: toYaml(jobs.map(summarizeJob)) },
    { path: 'events.yaml', content: toYaml(events.map(summarizeEvent)) },
    ...(await readLogs(reader, [
      ...operators,
      ...pods.toSorted((a, b) => Number(hasTrouble(b)) - Number(hasTrouble(a))),
    ])),
    ...(await tellStories(reader, streams, now)),
  ];
  const summary = [
    `Made ${now.toISOString()} of ${allNamespaces ? 'all namespaces' : `namespace "${namespace}"`}, by kubectl loop ${versions.plugin}.`,
    'It has no Secret: none was read. Of addresses it has the host alone, and no value of an environment variable.',
    `Kubernetes ${kubernetes}; operator ${versions.operators.join(', ') || 'not visible'}.`,
    `${streams.length} streams, ${uploads.length} uploads, ${playlists.length} playlists, ${destinations.length} destinations, ${pods.length} pods.`,
    '',
    formatTable(
      buildColumns({
        allNamespaces: true,
        titled: true,
        watched: true,
        wide: true,
        now: () => now,
        paint: (_, text) => text,
      }),
      streams.map(describeState),
    ),
    ...(reader.unseen.length > 0 ? ['Not visible:', ...new Set(reader.unseen)] : []),
    '',
  ];
  return [{ path: 'summary.txt', content: redactText(summary.join('\n')) }, ...files];
}

async function tellStories(reader: Reader, streams: readonly LoopStream[], now: Date): Promise<ArchiveFile[]> {
  const troubled = streams.filter((stream) => listProblems(stream).length > 0).slice(0, MAX_STORIES);
  const files: ArchiveFile[] = [];
  for (const { metadata } of troubled) {
    const { name, namespace = reader.namespace } = metadata;
    const own = new Reader(reader.kube, namespace);
    const story = await reader.attempt(tellStream(own, name, now), undefined);
    if (story) files.push({ path: `stories/${namespace}/${name}.txt`, content: redactText(formatStory(story)) });
  }
  return files;
}

async function readLogs(reader: Reader, pods: readonly Pod[]): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  let bytes = 0;
  const read = async (pod: Pod) => {
    const { name, namespace = reader.namespace } = pod.metadata;
    for (const container of listContainers(pod)) {
      const restarts = pod.status?.containerStatuses?.find((one) => one.name === container)?.restartCount ?? 0;
      for (const previous of restarts > 0 ? [false, true] : [false]) {
        if (bytes > MAX_LOGS_BYTES) return;
        const { status, text } = await reader.kube.raw('GET', logPath(pod, { container, previous, ...LOG }));
        if (status !== 200) {
          // 400: the container has not started. 404: the pod is gone.
          if (status !== 400 && status !== 404)
            reader.unseen.push(`The logs of pods in namespace "${namespace}" could not be read: status ${status}.`);
          continue;
        }
        const content = redactText(text);
        bytes += content.length;
        files.push({ path: `logs/${namespace}/${name}/${container}${previous ? '.previous' : ''}.log`, content });
      }
    }
  };
  await forEachConcurrently(pods.slice(0, MAX_PODS), read, new AbortController().signal, CONCURRENCY);
  if (pods.length > MAX_PODS) reader.unseen.push(`Logs of ${pods.length - MAX_PODS} more pods were left out.`);
  if (bytes > MAX_LOGS_BYTES) reader.unseen.push(`Logs beyond ${MAX_LOGS_BYTES} bytes were left out.`);
  return files.toSorted((a, b) => a.path.localeCompare(b.path));
}
