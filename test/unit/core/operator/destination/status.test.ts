import { describe, expect, it } from 'vitest';
import type { Secret } from '../../../../../src/core/kube/core.ts';
import { buildDestinationStatus, type FoundSecret } from '../../../../../src/core/operator/destination/status.ts';
import { at, destination, NOW } from '../../../../kit/make/operator.ts';

const secret = (data: Record<string, string>): Secret =>
  ({
    metadata: { name: 'tv-secret' },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
  }) as Secret;
const buildStatus = (secret: FoundSecret) =>
  buildDestinationStatus(destination('tv', undefined), secret, NOW, { allowPrivateDestinations: false });
const KEY = 'live_s3cr3t-k3y';

describe('a destination', () => {
  it('that can be sent to shows its URL and a hint of its key', () => {
    expect(buildStatus(secret({ rtmpUrl: 'rtmp://ingest.example/live\n', rtmpKey: KEY }))).toMatchObject({
      rtmpUrl: 'rtmp://ingest.example/live',
      rtmpKeyHint: '-k3y',
      conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', observedGeneration: 1 }],
    });
  });

  it('whose Secret the operator may not read names the Role that is missing', () => {
    const message =
      'Secret "tv-secret" cannot be read. The Role "loopstream-operator" or its RoleBinding is missing in namespace "tv". Apply manifests/team-namespace.yaml there.';
    expect(buildStatus('forbidden')).toMatchObject({
      conditions: [
        { type: 'Ready', status: 'False', reason: 'DestinationSecretMissing', message },
        { type: 'Reconciling' },
      ],
    });
  });

  it('shows no secret that its URL holds', () => {
    const { rtmpUrl } = buildStatus(
      secret({ rtmpUrl: 'srt://ingest.example:9000?passphrase=hush-hush-hush', rtmpKey: KEY }),
    );
    expect(rtmpUrl).toBe('srt://ingest.example:9000?passphrase=…');
  });

  it('with login and key in its URL shows neither, and says that there is a login', () => {
    const status = buildStatus(secret({ rtmpUrl: `rtmp://u:hush@h.example/app/${KEY}?t=hush`, rtmpKey: KEY }));
    expect(status).toMatchObject({ rtmpUrl: 'rtmp://h.example/app', hasLogin: true, rtmpKeyHint: 'hush' });
    expect(JSON.stringify(status)).not.toContain(KEY);
  });

  it.each([
    ['no Secret', undefined, 'DestinationSecretMissing', 'Secret "tv-secret" does not exist.'],
    ['no key', { rtmpUrl: 'rtmp://h.example/app' }, 'DestinationSecretMissing', 'Secret "tv-secret" lacks rtmpKey.'],
    ['nothing in the Secret', {}, 'DestinationSecretMissing', 'Secret "tv-secret" lacks rtmpUrl and rtmpKey.'],
    ['a web page', { rtmpUrl: 'https://h/app', rtmpKey: KEY }, 'DestinationInvalid', 'must begin with rtmp://'],
    [
      'a user name without a password in the URL',
      { rtmpUrl: `rtmp://${KEY}@h.example/app`, rtmpKey: KEY },
      'DestinationInvalid',
      'The rtmpPassword in Secret "tv-secret" is missing',
    ],
    [
      'two logins that differ',
      { rtmpUrl: `rtmp://u:${KEY}@h.example/app`, rtmpKey: KEY, rtmpUser: 'other', rtmpPassword: KEY },
      'DestinationInvalid',
      'contains a login that differs',
    ],
    [
      'a login for SRT',
      { rtmpUrl: 'srt://h.example:9000', rtmpKey: KEY, rtmpUser: 'u', rtmpPassword: KEY },
      'DestinationInvalid',
      'applies to RTMP only',
    ],
    [
      'an option of ffmpeg’s in an SRT URL',
      { rtmpUrl: `srt://h.example:9000?${KEY.toLowerCase()}=1`, rtmpKey: KEY },
      'DestinationInvalid',
      'sets an SRT option that is not supported; the supported options are latency,',
    ],
    [
      'a key in two words',
      { rtmpUrl: 'rtmp://h.example/app', rtmpKey: `${KEY} x` },
      'DestinationInvalid',
      'must not contain spaces',
    ],
  ])('with %s is not ready, and its key is in no message', (_what, data, reason, message) => {
    const status = buildStatus(data && secret(data));
    expect(status.conditions?.[0]).toMatchObject({ status: 'False', reason });
    expect(status.conditions?.[0]?.message).toContain(message);
    expect(JSON.stringify(status)).not.toContain(KEY);
    expect(status.rtmpUrl).toBeUndefined();
  });
});

describe('a destination whose Secret is missing', () => {
  const judge = (one: ReturnType<typeof destination>, now: Date) => {
    const status = buildDestinationStatus(one, undefined, now, { allowPrivateDestinations: false });
    return { one: { ...one, status }, types: status.conditions?.filter((c) => c.status === 'True').map((c) => c.type) };
  };

  it('reconciles at first, since the Secret may be on its way, and stalls ten seconds later', () => {
    const first = judge(destination('tv', undefined), NOW);
    expect(first.types).toEqual(['Reconciling']);
    expect(judge(first.one, at(9)).types).toEqual(['Reconciling']);
    expect(judge(first.one, at(10)).types).toEqual(['Stalled']);
  });
});

it('a destination with an address that streams cannot be sent to stalls at once', () => {
  const { conditions } = buildStatus(secret({ rtmpUrl: 'https://h/app', rtmpKey: KEY }));
  expect(conditions?.map(({ type, status }) => [type, status])).toEqual([
    ['Ready', 'False'],
    ['Stalled', 'True'],
  ]);
});
