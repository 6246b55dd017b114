/**
 * Builds the pod that tests a destination. It is a pod and no Job: a Job is retried, and one publish was asked for. Pure: no I/O, no clock.
 */

import type { PodSpec, PodStatus } from '../../kube/core.ts';
import type { KubeObject } from '../../kube/types.ts';
import { setting } from '../../protocol/environment.ts';
import {
  API_VERSION,
  SECRET_KEY_KEY,
  SECRET_LOGIN_KEYS,
  SECRET_URL_KEY,
  SECRET_VERSION_ANNOTATION,
  testPodName,
} from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import {
  CONTAINER_SECURITY,
  confineEnv,
  destinationEnv,
  labelsFor,
  POD_SECURITY,
  type PodSettings,
  placement,
  RESULT_FILE,
  TMP_PATH,
  TMP_VOLUME,
  withDisk,
} from '../pods/security.ts';

const DESTINATION_DIR = '/etc/loopstream/destination';
/** An attempt takes half a minute at most. */
const DEADLINE_SECONDS = 40;
/** For its ffmpeg to say goodbye. */
const GRACE_SECONDS = 5;
const RESOURCES = { requests: { cpu: '50m', memory: '96Mi' }, limits: { cpu: '1', memory: '512Mi' } };

const container = (settings: PodSettings) => ({
  name: 'probe',
  image: settings.image,
  args: ['probe'],
  env: [
    setting('LOG_LEVEL', settings.logLevel),
    confineEnv(settings),
    { name: 'TMPDIR', value: TMP_PATH },
    setting('DESTINATION_DIR', DESTINATION_DIR),
    setting('RESULT_FILE', RESULT_FILE),
    ...destinationEnv(settings),
  ],
  terminationMessagePath: RESULT_FILE,
  resources: withDisk(RESOURCES, [TMP_VOLUME]),
  ...CONTAINER_SECURITY,
  volumeMounts: [
    { name: 'tmp', mountPath: TMP_PATH },
    { name: 'destination', mountPath: DESTINATION_DIR, readOnly: true },
  ],
});

/**
 * A login may be missing, and a volume's `optional` covers all its keys. The operator has seen the others; if the
 * Secret is deleted meanwhile, the pod ends without a result.
 */
const secretVolume = (secretName: string) => ({
  secretName,
  optional: true,
  defaultMode: 0o440,
  items: [SECRET_URL_KEY, SECRET_KEY_KEY, ...SECRET_LOGIN_KEYS].map((key) => ({ key, path: key })),
});

/** `secretVersion`: of the destination's Secret as it is now. The pod reads it as files and sees nothing else of the cluster. */
export function buildTestPod(
  destination: Destination,
  secretVersion: string,
  settings: PodSettings,
): KubeObject<PodSpec, PodStatus> {
  const { name, namespace, uid } = destination.metadata;
  const { secretName } = destination.spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: testPodName(uid),
      ...(namespace !== undefined && { namespace }),
      labels: labelsFor(destination, 'probe'),
      annotations: { [SECRET_VERSION_ANNOTATION]: secretVersion },
      // It holds nothing back: to do that would need another right.
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'Destination', name, uid, controller: true }],
    },
    spec: {
      ...POD_SECURITY,
      restartPolicy: 'Never',
      activeDeadlineSeconds: DEADLINE_SECONDS,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      ...placement(settings.jobPlacement),
      containers: [container(settings)],
      volumes: [
        { name: 'tmp', ...TMP_VOLUME },
        { name: 'destination', secret: secretVolume(secretName) },
      ],
    },
  };
}
