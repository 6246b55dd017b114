/** Tests that no secret survives: in addresses, in texts, in annotations, in the environment of pods. */
import { expect, test } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import {
  redactResource,
  redactText,
  summarizeJob,
  summarizePod,
} from '../../../../../src/core/kubectl/bundle/redact.ts';
import { wantImport } from '../../../../../src/core/operator/upload/job.ts';
import { destination, makeJob, makePod, meta, stream, upload } from '../../../../kit/make/operator.ts';

const SECRET = 'c4n4ry-Zx9';

test.each([
  `https://ada:${SECRET}@media.example/film.mp4`,
  `https://media.example/film.mp4?X-Amz-Signature=${SECRET}&a=b`,
  `https://drive.example/s/${SECRET}/film.mp4`,
  `https://media.example?t=${SECRET}`,
  `https://media.example#${SECRET}`,
  `rtmps://live.example:443/app/${SECRET}`,
  `srt://live.example:9000?passphrase=${SECRET}&streamid=x`,
  `postgres://loop:${SECRET}@db/loop`,
  `Authorization: Bearer ${SECRET}`,
  `authorization: "Basic ${SECRET}"`,
  `{"rtmpKey":"${SECRET}","x":1}`,
  `{"msg":"{\\"rtmpKey\\":\\"${SECRET}\\"}"}`,
  `password=${SECRET}`,
  `--api-key=${SECRET}`,
  `AWS_SECRET_ACCESS_KEY: '${SECRET}'`,
  `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`,
  `eyJhbGciOiJFUzI1NiJ9.${SECRET.padEnd(12, 'x')}.${SECRET}`,
])('%s', (text) => expect(redactText(`before ${text} after`)).not.toContain(SECRET));

test('what helps stays: hosts, codes, sentences and storage keys', () => {
  for (const text of [
    'The destination says that the key is in use: something else is publishing with it.',
    '"code":"key_in_use"',
    'renditions/upload-1/video-720p30.flv',
    'Upload "film" is being prepared for 720p30.',
  ])
    expect(redactText(text)).toBe(text);
  expect(redactText('fetch of https://media.example:8443/a/b.mp4?c failed')).toBe(
    'fetch of https://media.example:8443/[redacted] failed',
  );
});

test('a text that is made to be slow takes no longer than another one', () => {
  for (const part of ['a.', 'eyJ-', 'token', 'a-', '://', '@']) {
    const text = part.repeat(400_000);
    expect(redactText(text).length).toBeLessThanOrEqual(text.length);
  }
});

const annotated = <T extends { metadata: object }>(object: T): T => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: {
      'kubectl.kubernetes.io/last-applied-configuration': SECRET,
      'team/password': SECRET,
      'loopstream.dev/skip': 'now',
    },
  },
});

test('an object of ours keeps its fields, and loses foreign annotations, addresses and hints of keys', () => {
  const film = annotated({
    ...upload(),
    spec: { track: 'video' as const, source: { url: `https://a.example/${SECRET}` } },
  });
  const tv = annotated({ ...destination(), status: { rtmpUrl: 'rtmp://live.example/app', rtmpKeyHint: SECRET } });
  const bunny = stream({ template: { annotations: { 'vault/token': SECRET } } });
  const text = JSON.stringify([film, tv, bunny].map(redactResource));
  expect(text).not.toContain(SECRET);
  expect(text).toContain('"loopstream.dev/skip":"now"');
  expect(text).toContain('https://a.example/[redacted]');
  expect(text).toContain('"state":"ready"');
});

test('a pod and a Job keep their state, and no value of their environment', () => {
  const pod = annotated(makePod(stream(), { ready: true })) as Pod;
  const container = {
    name: 'sidecar',
    image: 'x:1',
    args: [`--password=${SECRET}`],
    command: [SECRET],
    env: [{ name: 'PLAIN', value: SECRET }],
  };
  Object.assign(pod.spec, { containers: [...(pod.spec.containers as object[]), container] });
  const film = { ...upload(), spec: { track: 'video' as const, source: { url: `https://a.example/${SECRET}` } } };
  const job: Job = { ...makeJob(film, wantImport(film)), metadata: meta('film-import') };
  const text = JSON.stringify([summarizePod(pod), summarizeJob(job)]);
  expect(text).not.toContain(SECRET);
  for (const kept of ['"PLAIN"', '"x:1"', '"node-a"', '"Running"', 'film-import']) expect(text).toContain(kept);
});
