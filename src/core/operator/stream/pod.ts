/** Builds the pod of a stream from the stream, its program and the operator's settings. Pure: no I/O, no clock. */

import { createHash } from 'node:crypto';
import type { Pod, PodSpec, PodStatus } from '../../kube/core.ts';
import type { KubeObject } from '../../kube/types.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import { memoize } from '../../lib/memoize.ts';
import { OWN_RATE_VERSION } from '../../pods/rendition/format.ts';
import { OWN_ADDRESS, setting } from '../../protocol/environment.ts';
import type { Program } from '../../protocol/program.ts';
import { pickUserLabels } from '../../resources/common/labels.ts';
import {
  DISRUPTION_LABEL,
  INDEX_VERSION_ANNOTATION,
  POD_FINALIZER,
  POD_UID_FILE,
  PROGRAM_ANNOTATION,
  PROGRAM_FILE,
  podName,
  STREAM_LABEL,
  STREAMER_METRICS_PORT,
  STREAMER_PORT,
  streamSecretName,
  TEMPLATE_HASH_ANNOTATION,
} from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Disruption } from '../../resources/stream/spec.ts';
import type { Template } from '../../resources/stream/template.ts';
import { packSettings } from '../../settings/settings.ts';
import {
  CONTAINER_SECURITY,
  cacheEnv,
  cacheMounts,
  cacheVolumes,
  commonEnv,
  commonMounts,
  commonVolumes,
  confineEnv,
  destinationEnv,
  isDirectory,
  labelsFor,
  ownedBy,
  PLAYED,
  POD_SECURITY,
  type PodSettings,
  placement,
  RESULT_FILE,
  settingsIn,
  storageParts,
  TMP_PATH,
  TMP_VOLUME,
  withDisk,
} from '../pods/security.ts';
import { STREAMER_COMMAND } from './command-line.ts';
import { streamResources } from './resources.ts';

export const STREAMER_CONTAINER = 'streamer';
/** A deleted pod publishes for this long without a stop command: time for another one to take over. */
const LINGER_SECONDS = 20;
/** Then it says goodbye. */
const GOODBYE_SECONDS = 10;
/** Where its program and the stream's Secret are. */
export const STREAM_DIR = '/stream';

const hash = (parts: unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

/**
 * Hash of what a pod is built from and cannot change while it runs, in two parts. The stream's part is applied at once,
 * the operator's part for all pods to a few streams at a time (rollout.ts).
 */
export const hashTemplate = ({ metadata, spec }: LoopStream, settings: PodSettings): string =>
  `${hash([spec.template])}.${hashSettings(settingsIn(settings, metadata.namespace))}`;
/** Memoized: each reconcile asks for it, and a rollout once a second for each pod. */
export const hashSettings = memoize((settings: PodSettings): string =>
  hash([
    settings.image,
    ...storageParts(settings),
    // Nothing for what is the default: streams on air are not given new pods for its sake.
    ...(settings.allowPrivateDestinations ? ['privateDestinations'] : []),
  ]),
);

/**
 * The program and all of the stream's Secret, readable by the pod's group alone. Mounts of a pod cannot be changed, so it is one
 * Secret with whatever the stream has of destinations.
 */
const streamVolume = (stream: LoopStream) => ({
  name: 'stream',
  projected: {
    defaultMode: 0o440,
    sources: [
      { secret: { name: streamSecretName(stream.metadata.uid) } },
      {
        downwardAPI: {
          // As a variable, the UID would take more room in each pod.
          items: [
            { path: PROGRAM_FILE, fieldRef: { fieldPath: `metadata.annotations['${PROGRAM_ANNOTATION}']` } },
            { path: POD_UID_FILE, fieldRef: { fieldPath: 'metadata.uid' } },
          ],
        },
      },
    ],
  },
});

/**
 * Ready means that a destination accepts media; one probe proves it. Kubelet probes the start each second, until a
 * destination accepts media or waiting is of no use (pods/streamer/control/http.ts), and readiness from then on. The
 * pod pushes later changes, so readiness needs a frequent probe only without reports. Liveness allows time for a
 * machine under load.
 */
const buildProbes = ({ reportsUrl }: PodSettings) => ({
  startupProbe: {
    httpGet: { path: '/startupz', port: STREAMER_PORT },
    periodSeconds: 1,
    timeoutSeconds: 2,
    failureThreshold: 60,
  },
  readinessProbe: {
    httpGet: { path: '/readyz', port: STREAMER_PORT },
    periodSeconds: reportsUrl === undefined ? 1 : 5,
    timeoutSeconds: 2,
    failureThreshold: 1,
  },
  livenessProbe: {
    httpGet: { path: '/healthz', port: STREAMER_PORT },
    periodSeconds: 10,
    timeoutSeconds: 5,
    failureThreshold: 3,
  },
});

const container = (
  settings: PodSettings,
  template: Template,
  { profile, destinations }: Program,
  volumes: readonly object[],
) => ({
  name: STREAMER_CONTAINER,
  image: settings.image,
  command: STREAMER_COMMAND,
  args: ['streamer'],
  env: packSettings(
    [
      ...commonEnv(settings),
      ...cacheEnv(settings),
      ...destinationEnv(settings),
      confineEnv(settings),
      OWN_ADDRESS,
      setting('PORT', String(STREAMER_PORT)),
      setting('METRICS_PORT', String(STREAMER_METRICS_PORT)),
      setting('STREAM_DIR', STREAM_DIR),
      ...(settings.reportsUrl === undefined ? [] : [setting('REPORTS_URL', settings.reportsUrl)]),
      setting('LINGER_SECONDS', String(LINGER_SECONDS)),
      setting('RESULT_FILE', RESULT_FILE),
      setting('SESSIONS_FILE', `${TMP_PATH}/sessions.json`),
    ],
    'streamer',
  ),
  // Only the port that a PodMonitor finds by its name.
  ports: [{ name: 'metrics', containerPort: STREAMER_METRICS_PORT, protocol: 'TCP' }],
  terminationMessagePath: RESULT_FILE,
  ...buildProbes(settings),
  resources: withDisk(
    template.resources ??
      streamResources({ profile, outputs: destinations.length, storage: isDirectory(settings) ? 'volume' : 's3' }),
    volumes,
  ),
  ...CONTAINER_SECURITY,
  volumeMounts: [
    ...commonMounts(settings, PLAYED),
    ...cacheMounts(settings),
    { name: 'stream', mountPath: STREAM_DIR, readOnly: true },
  ],
});

/** As many configurations of Prometheus expect. No part of the hash: streams on air are not given new pods for their sake. */
const SCRAPE_ANNOTATIONS = {
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': String(STREAMER_METRICS_PORT),
  'prometheus.io/path': '/metrics',
};

const DEFAULT_DISRUPTION: Disruption = 'OnDrain';

/** A stream that was stored before there was a choice has the default of today. */
export const readDisruption = ({ spec }: Pick<LoopStream, 'spec'>): Disruption =>
  spec.disruptionPolicy ?? DEFAULT_DISRUPTION;

const SAFE_TO_EVICT = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';

/**
 * The words of node autoscalers for whether the pod of a stream may be evicted; null where there is none. Cluster Autoscaler removes no node
 * with a pod of a custom controller, or with an emptyDir, unless the pod allows it. The user's own words win.
 */
export function readEvictionAnnotations(stream: Pick<LoopStream, 'spec'>): Record<string, string | null> {
  const isFixed = readDisruption(stream) === 'Never';
  const own = stream.spec.template?.annotations;
  return {
    [SAFE_TO_EVICT]: own?.[SAFE_TO_EVICT] ?? String(!isFixed),
    [DO_NOT_DISRUPT]: own?.[DO_NOT_DISRUPT] ?? (isFixed ? 'true' : null),
  };
}

const removeNulls = (annotations: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));

/** How the label of a pod says that it may be moved. The default needs no label, which each pod would keep. */
export const readDisruptionLabel = ({ metadata }: Pick<Pod, 'metadata'>): string =>
  metadata.labels?.[DISRUPTION_LABEL] ?? DEFAULT_DISRUPTION;

/** Returns the merge patch of a pod's labels that gives it the user's labels of its stream; undefined where it has them. */
export function findLabelPatch(
  stream: LoopStream,
  pod: Pick<Pod, 'metadata'>,
): Record<string, string | null> | undefined {
  const wanted = {
    ...pickUserLabels({ metadata: { labels: stream.spec.template?.labels ?? {} } }),
    ...pickUserLabels(stream),
  };
  const had = pickUserLabels(pod);
  if (isSameJson(wanted, had)) return undefined;
  return { ...Object.fromEntries(Object.keys(had).map((name) => [name, null])), ...wanted };
}

/** `name` is one of the two that the stream's pods have. */
export function buildPod(
  stream: LoopStream,
  program: Program,
  operatorSettings: PodSettings,
  name: string = podName(stream.metadata.name),
): KubeObject<PodSpec, PodStatus> {
  const { template = {} } = stream.spec;
  const settings = settingsIn(operatorSettings, stream.metadata.namespace);
  const disruption = readDisruption(stream);
  const volumes = [...commonVolumes(settings, TMP_VOLUME, true), ...cacheVolumes(settings), streamVolume(stream)];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(stream.metadata.namespace !== undefined && { namespace: stream.metadata.namespace }),
      labels: {
        ...template.labels,
        ...labelsFor(stream, 'streamer'),
        [STREAM_LABEL]: stream.metadata.name,
        ...(disruption !== DEFAULT_DISRUPTION && { [DISRUPTION_LABEL]: disruption }),
      },
      annotations: {
        ...(settings.scrapeAnnotations && SCRAPE_ANNOTATIONS),
        ...removeNulls(readEvictionAnnotations(stream)),
        ...template.annotations,
        [INDEX_VERSION_ANNOTATION]: String(OWN_RATE_VERSION),
        [PROGRAM_ANNOTATION]: JSON.stringify(program),
        [TEMPLATE_HASH_ANNOTATION]: hashTemplate(stream, settings),
      },
      finalizers: [POD_FINALIZER],
      ownerReferences: ownedBy('LoopStream', stream),
    },
    spec: {
      ...POD_SECURITY,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: LINGER_SECONDS + GOODBYE_SECONDS,
      ...placement(template),
      containers: [container(settings, template, program, volumes)],
      volumes,
    },
  };
}
