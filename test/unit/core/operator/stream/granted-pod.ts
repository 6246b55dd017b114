/** Makes the pod of the stream `bunny` as the release before started it, without the Secret of the stream. Leave the literals as they are. */
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { hashTemplate } from '../../../../../src/core/operator/stream/pod.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { SETTINGS } from '../../../../kit/make/operator.ts';

export const GRANTED_UID = 'granted';

const PROGRAM =
  '{"version":1,"epoch":"2026-06-01T12:00:00Z","seed":374461576,"profile":"720p30","video":{"mode":"sequential","items":[{"id":"film",' +
  '"name":"film","rendition":"renditions/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/video-720p30.flv"}]},' +
  '"destinations":["tv"],"destinationsRevision":"7136afb48dc2e973"}';

const ENV =
  '{"STORAGE_URL":"file:///media","METRICS_PORT":"9405","STREAM_DIR":"/stream","REPORTS_URL":"http://operator","GRANT_DIR":"/tmp/grant",' +
  '"LINGER_SECONDS":"20","RESULT_FILE":"/dev/termination-log","SESSIONS_FILE":"/tmp/sessions.json"}';

export const makeGrantedPod = (loopStream: LoopStream, nodeName = 'node-a'): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'bunny-onair',
      namespace: 'tv',
      uid: GRANTED_UID,
      resourceVersion: '1',
      creationTimestamp: '2026-06-01T11:59:00Z',
      labels: {
        'app.kubernetes.io/name': 'loopstream',
        'app.kubernetes.io/managed-by': 'loopstream',
        'app.kubernetes.io/component': 'streamer',
        'loopstream.dev/stream': 'bunny',
      },
      annotations: {
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
        'loopstream.dev/control-secret': 'tv-secret',
        'loopstream.dev/index-version': '4',
        'loopstream.dev/program': PROGRAM,
        // As for a release with the same image and settings: the pod need not be exchanged.
        'loopstream.dev/template-hash': hashTemplate(loopStream, SETTINGS),
      },
      finalizers: ['loopstream.dev/time-on-air'],
      ownerReferences: [
        {
          apiVersion: 'loopstream.dev/v1beta1',
          kind: 'LoopStream',
          name: 'bunny',
          uid: loopStream.metadata.uid,
          controller: true,
        },
      ],
    },
    spec: {
      nodeName,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'streamer', image: 'loopstream:1', env: [{ name: 'LOOPSTREAM_SETTINGS', value: ENV }] }],
      volumes: [
        {
          name: 'stream',
          projected: {
            defaultMode: 288,
            sources: [
              { secret: { name: `stream-${loopStream.metadata.uid}`, optional: true } },
              {
                secret: {
                  name: 'tv-secret',
                  optional: true,
                  items: [
                    { key: 'rtmpUrl', path: 'destinations/tv/rtmpUrl' },
                    { key: 'rtmpKey', path: 'destinations/tv/rtmpKey' },
                    { key: 'rtmpUser', path: 'destinations/tv/rtmpUser' },
                    { key: 'rtmpPassword', path: 'destinations/tv/rtmpPassword' },
                    { key: 'controlKey', path: 'controlKey' },
                  ],
                },
              },
              {
                downwardAPI: {
                  items: [
                    {
                      path: 'program.json',
                      fieldRef: { fieldPath: "metadata.annotations['loopstream.dev/program']" },
                    },
                    { path: 'podUid', fieldRef: { fieldPath: 'metadata.uid' } },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-06-01T12:00:00Z' }],
      containerStatuses: [{ name: 'streamer', ready: true, restartCount: 0, started: true, state: { running: {} } }],
    },
  }) as unknown as Pod;
