/**
 * Tests that operator and pods of different releases understand each other. Each message is here as the release before the one that moved
 * the formats to src/protocol wrote it. Leave these literals as they are; add one when a format changes.
 */
import { describe, expect, it, test } from 'vitest';
import { readSkipAnswer } from '../../../src/protocol/commands.ts';
import { readReport, readStats, readTimeOnAir } from '../../../src/protocol/report.ts';

const RUN = '{"run":1780315200,"startedAt":"2026-06-01T12:00:00Z","lastAt":"2026-06-01T12:01:00Z","onAirSeconds":59.8}';

const REPORTED =
  '"live":false,"held":true,"playable":true,' +
  '"clock":{"video":{"version":3,"epoch":"2026-06-01T12:00:00.000Z"},"audio":null},' +
  '"brokenItems":[{"id":"upl-2","name":"Rain","playlistID":"pls-1","index":4,"code":"item_missing",' +
  '"message":"The rendition is not in the storage.","track":"audio"}],' +
  '"preparationBehind":{"count":2,"item":{"id":"upl-1","name":"Film","playlistID":null,"index":0,"track":"video"},' +
  `"since":"2026-06-01T12:00:30.000Z"},"runs":[${RUN}],` +
  '"destinations":[{"name":"dst-1","connected":false,"bytesSent":1234,"reconnects":1,' +
  '"lastError":{"code":"reset","message":"The destination closed the connection."},"dropped":0}]';

const STATS =
  `{${REPORTED},"pushes":true,"startedAt":"2026-06-01T12:00:00.000Z","uptimeSeconds":60,"bitrateKbps":4500,"fps":30,` +
  '"framesSent":1800,"loopCount":2,"seam":{"count":5,"maxStepMs":34,"maxAudioStepMs":22,' +
  '"hour":{"maxStepMs":34,"maxAudioStepMs":22}},"avSkewMs":0.4,"reconnects":1,' +
  '"currentItem":{"id":"upl-1","name":"Film","playlistID":null,"index":0,"positionSeconds":1.5,"durationSeconds":30},' +
  '"nextItem":{"id":"upl-1","name":"Film","playlistID":null,"index":0},"currentAudioItem":null,"programVersion":3,' +
  '"skippedItems":0,"leadMs":900,"cache":null}';

const asJson = (text: string): Record<string, unknown> => JSON.parse(text);

describe('a message of the release before is read whole:', () => {
  test('a pushed report', () => {
    expect(readReport(asJson(`{${REPORTED}}`))).toEqual({ ok: true, message: asJson(`{${REPORTED}}`) });
  });

  test('the answer to GET /stats', () => {
    const { cache: _, ...shown } = asJson(STATS);
    expect(readStats(asJson(STATS))).toEqual({ ok: true, message: shown });
  });

  test('the termination message of a streamer, padded as it is written in place', () => {
    expect(readTimeOnAir(`{"runs":[${RUN}]}     `)).toEqual({ ok: true, message: { runs: [asJson(RUN)] } });
  });

  test('the answer to a skip', () => {
    const clock = '{"video":{"version":3,"epoch":"2026-06-01T12:00:00.000Z"},"audio":null}';
    expect(readSkipAnswer(asJson(`{"code":"skipped","clock":${clock}}`))).toEqual({
      ok: true,
      message: { clock: asJson(clock) },
    });
    expect(readSkipAnswer({ code: 'skip_pending' }).ok).toBe(false);
  });
});

describe('a report of another release', () => {
  it('may have more fields, and lack all but one', () => {
    const newer = readReport({ ...asJson(`{${REPORTED}}`), mood: 'good' });
    expect(newer.ok && newer.message).not.toHaveProperty('mood');
    expect(readReport({ playable: true })).toEqual({
      ok: true,
      message: {
        held: false,
        playable: true,
        clock: { video: null, audio: null },
        brokenItems: [],
        preparationBehind: { count: 0, item: null, since: null },
        runs: [],
        destinations: [],
      },
    });
  });

  it('counts as far as it makes sense, and fails where it is none', () => {
    const odd = readReport({ playable: true, runs: [asJson(RUN), null, { run: 'x' }], destinations: 'many', held: 7 });
    expect(odd).toMatchObject({ ok: true, message: { runs: [asJson(RUN)], destinations: [], held: false } });
    expect(readReport({ playable: 'yes' })).toEqual({ ok: false, failure: { code: 'unexpected', path: '/playable' } });
    expect(readReport(null)).toEqual({ ok: false, failure: { code: 'unexpected', path: '' } });
    expect(readTimeOnAir('{"runs":[')).toEqual({ ok: false, failure: { code: 'not_json', path: '' } });
    expect(readTimeOnAir(undefined)).toEqual({ ok: false, failure: { code: 'not_json', path: '' } });
  });
});
