/**
 * Tests that operator and pods of different releases understand each other. Each message is here as the release before the one that moved
 * the formats to src/core/protocol wrote it. Leave these literals as they are; add one when a format changes.
 */
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, it, test } from 'vitest';
import { ReleaseRequest, readSkipAnswer, SkipRequest } from '../../../../src/core/protocol/commands.ts';
import { readReport, readStats, readTimeOnAir } from '../../../../src/core/protocol/report.ts';
import {
  readDestinations,
  readProgram,
  readReleaseRequest,
  readSkipRequest,
} from '../../../../src/core/protocol/to-streamer.ts';

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

/** A default is no demand. */
const SkipWithoutTrack = Type.Object({
  id: SkipRequest.properties.id,
  track: Type.Optional(SkipRequest.properties.track),
});

const asJson = (text: string): Record<string, unknown> => JSON.parse(text);

describe('a message of the release before is read whole:', () => {
  test('a pushed report', () => {
    expect(readReport(asJson(`{${REPORTED}}`))).toEqual({ ok: true, message: asJson(`{${REPORTED}}`) });
  });

  test('a report with rules that were left out', () => {
    const droppedRules =
      '[{"track":"video","rule":"news","dueAt":"2026-06-01T12:00:00.000Z","reason":"late","count":2,"since":"2026-06-01T11:00:00.000Z"}]';
    const report = asJson(`{${REPORTED},"droppedRules":${droppedRules}}`);
    expect(readReport(report)).toEqual({ ok: true, message: report });
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

describe('a pod of another release reads', () => {
  const PROGRAM =
    '{"version":3,"epoch":"2026-06-01T12:00:00.000Z","audioEpoch":"2026-06-01T12:00:09.000Z",' +
    '"skipped":{"video":"2026-06-01T12:00:00.000Z x"},"seed":7,"profile":"1080p30","video":{"mode":"shuffle",' +
    '"items":[{"id":"upl-1","name":"Film","rendition":"renditions/a.flv"},{"id":"upl-2","name":"","rendition":""}],' +
    '"lists":[{"id":"pls-1","items":2}]},"audio":{"mode":"sequential",' +
    '"items":[{"id":"upl-3","name":"Song","rendition":"renditions/b.flv"}]},' +
    '"destinations":["dst-1"],"destinationsRevision":"0123456789abcdef"}';

  test('its program, also with fields that it does not know', () => {
    expect(readProgram(PROGRAM)).toEqual({ ok: true, message: asJson(PROGRAM) });
    const sounding = PROGRAM.replace('"renditions/a.flv"', '"renditions/a.flv","sound":"renditions/c.flv"');
    expect(readProgram(sounding)).toEqual({ ok: true, message: asJson(sounding) });
    expect(readProgram(sounding.replace('"renditions/c.flv"', '7')).ok).toBe(false);
    const least = { version: 1, epoch: '2026-06-01T12:00:00Z', seed: 1, profile: '720p30', destinations: ['dst-1'] };
    const video = { mode: 'sequential', items: [{ id: 'upl-1', name: '', rendition: '' }] };
    expect(readProgram(JSON.stringify({ ...least, video, mood: 'good' })).ok).toBe(true);
    expect(readProgram(JSON.stringify(least))).toEqual({ ok: false, failure: { code: 'unexpected', path: '' } });
    expect(readProgram('{"version"')).toEqual({ ok: false, failure: { code: 'not_json', path: '' } });
  });

  test('the destinations in the Secret of its stream; one without a URL is left out', () => {
    const told =
      '{"dst-1":{"rtmpUrl":"rtmp://a.example/live","rtmpKey":"key\\n","rtmpUser":"me","rtmpPassword":"secret"},' +
      '"dst-2":{"rtmpUrl":"srt://b.example:9000","rtmpKey":""},"dst-3":{"rtmpKey":"k"},"dst-4":null}';
    const read = readDestinations(asJson(told));
    expect(read.ok && Object.fromEntries(read.message)).toEqual({
      'dst-1': { rtmpUrl: 'rtmp://a.example/live', rtmpKey: 'key', rtmpUser: 'me', rtmpPassword: 'secret' },
      'dst-2': { rtmpUrl: 'srt://b.example:9000', rtmpKey: '', rtmpUser: '', rtmpPassword: '' },
    });
    expect(readDestinations(['dst-1']).ok).toBe(false);
  });

  test.each([
    [0, true],
    [50_000, true],
    [50_001, false],
    [-1, false],
    [1.5, false],
    ['1500', false],
    [null, false],
  ])('a least bitrate of %j beside them is taken: %s', (leastBitrateKbps, isTaken) => {
    const read = readDestinations({ 'dst-1': { rtmpUrl: 'rtmp://a.example/live', leastBitrateKbps } });
    const own = read.ok ? read.message.get('dst-1') : undefined;
    expect(own).toMatchObject({ rtmpUrl: 'rtmp://a.example/live' });
    expect(own?.leastBitrateKbps).toBe(isTaken ? leastBitrateKbps : undefined);
  });

  test('the commands', () => {
    expect(readReleaseRequest(asJson('{"podUID":"uid-1"}'))).toEqual({ ok: true, message: { podUID: 'uid-1' } });
    expect(readReleaseRequest({ podUID: 7 }).ok).toBe(false);
    const skip = { id: '2026-06-01T12:00:00.000Z x', track: 'audio' };
    expect(readSkipRequest(skip)).toEqual({ ok: true, message: skip });
    expect(readSkipRequest({ id: 'x' })).toEqual({ ok: true, message: { id: 'x', track: 'video' } });
    for (const odd of [undefined, null, {}, { id: '' }, { id: 'x', track: 'text' }, { id: 'x'.repeat(257) }])
      expect(readSkipRequest(odd)).toMatchObject({ ok: false, failure: { code: 'unexpected' } });
  });

  test.each<[string, TSchema, (value: unknown) => { ok: boolean }, unknown[]]>([
    ['releases', ReleaseRequest, readReleaseRequest, [{}, null, { podUID: 'a' }, { podUID: 1 }]],
    ['skips', SkipWithoutTrack, readSkipRequest, [{}, { id: 'a' }, { id: 'a', track: 'x' }, { id: '' }, { id: 1 }]],
  ])('%s as their schema says', (_, schema, read, values) => {
    for (const value of values) expect(read(value).ok, JSON.stringify(value)).toBe(Value.Check(schema, value));
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
