/** The streamer's pod: built from the stream, its program and the operator's settings. Pure: no I/O, no clock. */
import { createHash } from 'node:crypto';
import type { Destination, LoopStream, PodSpec, PodStatus } from '../kube/resources.ts';
import type { KubeObject } from '../kube/types.ts';
import {
  CONTROL_TOKEN_KEY,
  controlSecretName,
  DISRUPTION_LABEL,
  PROGRAM_ANNOTATION,
  podName,
  SECRET_KEY_KEY,
  SECRET_URL_KEY,
  STREAM_LABEL,
  STREAMER_PORT,
  TEMPLATE_HASH_ANNOTATION,
} from '../streams/names.ts';
import type { Program } from '../streams/program.ts';
import type { Disruption } from '../streams/spec.ts';
import type { Template } from '../streams/template.ts';
import { profileOfStream } from './media.ts';
import {
  CONTAINER_SECURITY,
  cacheEnv,
  cacheMounts,
  cacheVolumes,
  commonEnv,
  commonMounts,
  commonVolumes,
  labelsFor,
  ownedBy,
  POD_SECURITY,
  type PodSettings,
  RESULT_FILE,
  storageParts,
  TMP_PATH,
} from './restricted.ts';

export const STREAMER_CONTAINER = 'streamer';
const PROGRAM_DIR = '/etc/loopstream/program';
const PROGRAM_FILE = 'program.json';
const DESTINATIONS_DIR = '/etc/loopstream/destinations';
const CONTROL_DIR = '/etc/loopstream/control';

/** A destination as the pod needs it: its name is the name of its directory. */
interface Target {
  name: string;
  secretName: string;
}

/** The destinations of a stream in its order; those that do not exist are left out. */
export const targetsOf = (stream: LoopStream, destinations: ReadonlyMap<string, Destination>): Target[] =>
  stream.spec.destinationRefs.flatMap((name) => {
    const destination = destinations.get(name);
    return destination ? [{ name, secretName: destination.spec.secretName }] : [];
  });

/**
 * Hash of what a pod is built from and cannot take up while it runs. The image is not part of it: a new version of the
 * operator must not take every stream off air.
 */
export function templateHash(stream: LoopStream, targets: Target[], settings: PodSettings): string {
  const parts = [profileOfStream(stream), targets, ...storageParts(settings), stream.spec.template];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/**
 * One volume for all destinations, a directory with two files for each, readable by the pod's group alone: where paths
 * cannot be mounted but are rewritten (the local node), a directory above many mounts would not exist.
 */
const destinationsVolume = (targets: Target[]) => ({
  name: 'destinations',
  projected: {
    defaultMode: 0o440,
    sources: targets.map(({ name, secretName }) => ({
      secret: {
        name: secretName,
        items: [SECRET_URL_KEY, SECRET_KEY_KEY].map((key) => ({ key, path: `${name}/${key}` })),
      },
    })),
  },
});

const programVolume = {
  name: 'program',
  downwardAPI: {
    items: [{ path: PROGRAM_FILE, fieldRef: { fieldPath: `metadata.annotations['${PROGRAM_ANNOTATION}']` } }],
  },
};

/** The token that the operator shows when it controls the stream, readable by the pod's group alone. */
const controlVolume = (stream: LoopStream) => ({
  name: 'control',
  secret: {
    secretName: controlSecretName(stream.metadata.uid),
    defaultMode: 0o440,
    items: [{ key: CONTROL_TOKEN_KEY, path: CONTROL_TOKEN_KEY }],
  },
});

/**
 * Ready means that a destination accepts media, so readiness is looked at each second and believed at once. Whether the
 * process is alive is another question, with time for a machine under load.
 */
const probes = {
  startupProbe: {
    httpGet: { path: '/healthz', port: 'http' },
    periodSeconds: 1,
    timeoutSeconds: 2,
    failureThreshold: 60,
  },
  readinessProbe: {
    httpGet: { path: '/readyz', port: 'http' },
    periodSeconds: 1,
    timeoutSeconds: 2,
    failureThreshold: 1,
  },
  livenessProbe: {
    httpGet: { path: '/healthz', port: 'http' },
    periodSeconds: 10,
    timeoutSeconds: 5,
    failureThreshold: 3,
  },
};

/**
 * A streamer has next to no objects of its own but moves buffers all day: with the defaults, V8's young generation and the
 * C library's arenas keep several MB of them for every stream (test/bench/RESULTS.md).
 */
const SMALL_PROCESS = [
  { name: 'NODE_OPTIONS', value: '--max-semi-space-size=1' },
  { name: 'MALLOC_ARENA_MAX', value: '1' },
];

const RESOURCES = { requests: { cpu: '50m', memory: '96Mi' }, limits: { cpu: '1', memory: '512Mi' } };

const container = (settings: PodSettings, template: Template) => ({
  name: STREAMER_CONTAINER,
  image: settings.image,
  args: ['streamer'],
  env: [
    ...commonEnv(settings),
    ...cacheEnv(settings),
    ...SMALL_PROCESS,
    { name: 'LOOPSTREAM_HOST', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'LOOPSTREAM_PORT', value: String(STREAMER_PORT) },
    { name: 'LOOPSTREAM_PROGRAM_FILE', value: `${PROGRAM_DIR}/${PROGRAM_FILE}` },
    { name: 'LOOPSTREAM_DESTINATIONS_DIR', value: DESTINATIONS_DIR },
    { name: 'LOOPSTREAM_CONTROL_TOKEN_FILE', value: `${CONTROL_DIR}/${CONTROL_TOKEN_KEY}` },
    { name: 'LOOPSTREAM_RESULT_FILE', value: RESULT_FILE },
    { name: 'LOOPSTREAM_SESSIONS_FILE', value: `${TMP_PATH}/sessions.json` },
  ],
  ports: [{ name: 'http', containerPort: STREAMER_PORT, protocol: 'TCP' }],
  terminationMessagePath: RESULT_FILE,
  ...probes,
  resources: template.resources ?? RESOURCES,
  ...CONTAINER_SECURITY,
  volumeMounts: [
    ...commonMounts(settings, true),
    ...cacheMounts(settings),
    { name: 'program', mountPath: PROGRAM_DIR, readOnly: true },
    { name: 'destinations', mountPath: DESTINATIONS_DIR, readOnly: true },
    { name: 'control', mountPath: CONTROL_DIR, readOnly: true },
  ],
});

/** Where the pod may run, as the stream says. */
const placement = ({ nodeSelector, tolerations, affinity, runtimeClassName, priorityClassName }: Template) => ({
  ...(nodeSelector && { nodeSelector }),
  ...(tolerations && { tolerations }),
  ...(affinity && { affinity }),
  ...(runtimeClassName !== undefined && { runtimeClassName }),
  ...(priorityClassName !== undefined && { priorityClassName }),
});

/** A stream that was stored before there was a choice has the default of today. */
export const disruptionOf = ({ spec }: Pick<LoopStream, 'spec'>): Disruption => spec.disruption ?? 'OnDrain';

export function buildPod(
  stream: LoopStream,
  program: Program,
  targets: Target[],
  settings: PodSettings,
): KubeObject<PodSpec, PodStatus> {
  const { template = {} } = stream.spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(stream.metadata.name),
      ...(stream.metadata.namespace !== undefined && { namespace: stream.metadata.namespace }),
      labels: {
        ...template.labels,
        ...labelsFor(stream, 'streamer'),
        [STREAM_LABEL]: stream.metadata.name,
        [DISRUPTION_LABEL]: disruptionOf(stream),
      },
      annotations: {
        ...template.annotations,
        [PROGRAM_ANNOTATION]: JSON.stringify(program),
        [TEMPLATE_HASH_ANNOTATION]: templateHash(stream, targets, settings),
      },
      ownerReferences: ownedBy('LoopStream', stream),
    },
    spec: {
      ...POD_SECURITY,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 10,
      ...placement(template),
      containers: [container(settings, template)],
      volumes: [
        ...commonVolumes(settings),
        ...cacheVolumes(settings),
        programVolume,
        destinationsVolume(targets),
        controlVolume(stream),
      ],
    },
  };
}
