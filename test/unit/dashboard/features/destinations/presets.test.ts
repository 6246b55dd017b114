import { describe, expect, test } from 'vitest';
import { findIngestUrlProblem } from '../../../../../src/core/resources/destination/ingest.ts';
import type { TEST_STAGES } from '../../../../../src/core/resources/destination/spec.ts';
import { findAddressKeyNeed } from '../../../../../src/dashboard/features/destinations/formValues.ts';
import { findPreset, PRESETS } from '../../../../../src/dashboard/features/destinations/presets.ts';
import { buildSteps } from '../../../../../src/dashboard/features/destinations/stages.ts';
import { findFieldErrors } from '../../../../../src/dashboard/ui/fieldErrors.ts';
import { problems } from '../../../../../src/service/client/index.ts';

describe('the known platforms', () => {
  test('the server takes each of their addresses with a key alone, and each is known again by it', () => {
    for (const { id, rtmpUrl } of PRESETS.filter(({ rtmpUrl }) => rtmpUrl !== '')) {
      expect(findIngestUrlProblem(rtmpUrl)).toBeUndefined();
      expect(findAddressKeyNeed(rtmpUrl)).toBe('required');
      expect(findPreset(rtmpUrl).id).toBe(id);
    }
  });

  test('are known by their other addresses too, and by nobody else’s', () => {
    expect(findPreset('rtmp://a.rtmp.youtube.com/live2').id).toBe('youtube');
    expect(findPreset('rtmp://fra05.contribute.live-video.net/app').id).toBe('twitch');
    for (const url of ['rtmp://notyoutube.com/x', 'rtmp://youtube.com.evil.example/x', 'nonsense', ''])
      expect(findPreset(url).id).toBe('custom');
  });

  test('where a key is shown is a page of the platform over TLS', () => {
    for (const { keysUrl, id } of PRESETS) if (id !== 'custom') expect(new URL(keysUrl ?? '').protocol).toBe('https:');
  });
});

describe('the steps of a test', () => {
  const states = (url: string, ok: boolean, stage: (typeof TEST_STAGES)[number]) =>
    buildSteps(url, { ok, stage }).map((step) => `${step.stage} ${step.state}`);

  test('those before the stage have passed, those after it were not reached', () => {
    expect(states('rtmps://host/app', false, 'tls')).toEqual([
      ...['resolve passed', 'connect passed', 'tls failed', 'handshake not reached', 'publish not reached'],
    ]);
  });

  test('a destination that took the publish passed all of them', () => {
    expect(states('rtmps://host/app', true, 'publish').every((state) => state.endsWith(' passed'))).toBe(true);
  });

  test('are those of the protocol: no TLS for rtmp, and for srt only the end', () => {
    expect(states('rtmp://host/app', false, 'publish').join()).not.toContain('tls');
    expect(states('srt://host:9000', false, 'publish')).toEqual(['resolve passed', 'publish failed']);
  });
});

describe('the server’s errors in a form', () => {
  const refusal = (errors: { path: string; message: string }[]) =>
    new problems.ValidationFailed({
      type: '',
      title: '',
      status: 422,
      detail: 'The request is not valid.',
      code: 'validation_failed',
      errors,
    });

  test('stand at their fields, as sentences; the rest above the buttons', () => {
    const error = refusal([
      { path: '/rtmpUrl', message: 'must name a host' },
      { path: '/items/2/uploadObjectID', message: 'names an upload that does not exist' },
      { path: '/other', message: 'is not known' },
    ]);
    expect(findFieldErrors(error, ['rtmpUrl', 'items'])).toEqual({
      fields: { rtmpUrl: 'Must name a host.', items: 'Names an upload that does not exist.' },
      rest: 'Other is not known.',
    });
    expect(findFieldErrors(error, ['items', 'items/2', 'items/20']).fields).toEqual({
      'items/2': 'Names an upload that does not exist.',
    });
  });

  test('a problem with no fields is shown as a whole', () => {
    const error = new problems.RateLimited({
      type: '',
      title: '',
      status: 429,
      detail: 'Too many requests.',
      code: 'rate_limited',
    });
    expect(findFieldErrors(error, ['name'])).toEqual({ fields: {}, rest: 'Too many requests.' });
  });
});
