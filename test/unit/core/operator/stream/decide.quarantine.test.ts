/** Tests what a quarantine of an upload does to the streams that play it. */
import { describe, expect, it } from 'vitest';
import type { Program } from '../../../../../src/core/protocol/program.ts';
import { readPodProgram } from '../../../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { PROGRAM_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../../../src/core/resources/stream/spec.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import type { Quarantine } from '../../../../../src/core/resources/upload/spec.ts';
import { at, makePod, playlist, step, stream, upload, world } from '../../../../kit/make/operator.ts';

const REASON = 'A claim is being checked.';
const held = (name: string, more: Partial<Quarantine> = {}): Upload => {
  const free = upload(name);
  return { ...free, spec: { ...free.spec, quarantine: { reason: REASON, ...more } } };
};
const LISTS = { playlists: [playlist('list', ['film', 'other'])] };
const FREE = { ...LISTS, uploads: [upload('film'), upload('other')] };
const build = (spec: Partial<LoopStreamSpec> = {}): LoopStream => {
  const { uploadName: _, ...rest } = stream({ playlistNames: ['list'], ...spec }).spec;
  return stream({}, { spec: rest });
};
function onAir(loopStream = build(), inWorld: Parameters<typeof world>[0] = FREE) {
  const pod = makePod(loopStream, { ready: true }, world(inWorld));
  return { pod, loopStream: step(loopStream, world({ ...inWorld, pod })).stream };
}
const programIn = (action: object): Program => (action as { program: Program }).program;

describe('a stream on air whose list has an upload in quarantine', () => {
  it('gets a new version of its program without the item, which keeps its place; nothing else changes', () => {
    const { pod, loopStream } = onAir();
    const before = readPodProgram(pod) as Program;
    const { decision, stream: after } = step(
      loopStream,
      world({ ...LISTS, uploads: [held('film'), upload('other')], pod }),
    );
    const [, other] = before.video.items;
    expect(decision.action).toMatchObject({ do: 'patch' });
    expect(programIn(decision.action)).toEqual({
      ...before,
      version: before.version + 1,
      video: { ...before.video, items: [{ id: 'film', name: 'film', rendition: '' }, other] },
    });
    expect(after.status?.unplayable).toMatchObject({
      count: 1,
      items: [
        {
          field: 'playlistNames',
          upload: 'film',
          index: 0,
          reason: 'UploadQuarantined',
          message: `Upload "film", clip 1 of the playlist "list", is in quarantine: ${REASON}`,
        },
      ],
    });
    expect(findCondition(after.status?.conditions, 'MediaReady')?.status).toBe('True');
  });

  it('is told to cut, and takes the item back at once when the quarantine ends', () => {
    const { pod, loopStream } = onAir();
    const before = readPodProgram(pod) as Program;
    const cut = world({ ...LISTS, uploads: [held('film', { cut: true }), upload('other')], pod });
    const program = programIn(step(loopStream, cut).decision.action);
    expect(program.video.items[0]).toEqual({ id: 'film', name: 'film', rendition: '', cut: true });
    pod.metadata.annotations = { ...pod.metadata.annotations, [PROGRAM_ANNOTATION]: JSON.stringify(program) };
    const back = programIn(step(loopStream, world({ ...FREE, pod })).decision.action);
    expect(back).toEqual({ ...before, version: program.version + 1 });
  });

  it('stays on air with a slate where it was the only one, says so, and returns to that when its pod is lost', () => {
    const single = stream();
    const uploads = [held('film')];
    const { pod, loopStream } = onAir(single, { uploads: [upload('film')] });
    const { decision, stream: after } = step(loopStream, world({ uploads, pod }));
    const program = programIn(decision.action);
    expect(decision).toMatchObject({ phase: 'live', ready: false, action: { do: 'patch' } });
    expect(program.video.items).toEqual([{ id: 'film', name: 'film', rendition: '' }]);
    expect(findCondition(after.status?.conditions, 'Degraded')).toMatchObject({
      status: 'True',
      message: expect.stringContaining(`Upload "film" is in quarantine: ${REASON}`),
    });
    expect(findCondition(after.status?.conditions, 'MediaReady')).toMatchObject({ reason: 'UploadQuarantined' });
    const lost = step(after, world({ uploads, now: at(60) }));
    expect(lost.decision.action).toMatchObject({ do: 'create', program: { video: program.video } });
    const released = step(after, world({ uploads: [upload('film')], now: at(60) }));
    expect(programIn(released.decision.action).video.items).toMatchObject(
      [{ rendition: /^renditions/ }].map(() => ({ id: 'film' })),
    );
  });

  it('loses it too while its program stays, since the next one cannot be played yet', () => {
    const { pod, loopStream } = onAir();
    const edited = { ...loopStream, spec: { ...loopStream.spec, quality: '1080p' as const } };
    const { decision } = step(edited, world({ ...LISTS, uploads: [held('film'), upload('other')], pod }));
    const program = programIn(decision.action);
    expect(program.profile).toBe('720p30');
    expect(program.video.items.map(({ rendition }) => rendition !== '')).toEqual([false, true]);
  });
});

describe('a stream off air', () => {
  const start = (loopStream: LoopStream, ...uploads: Upload[]) => step(loopStream, world({ ...LISTS, uploads }));

  it.each(['Skip', 'Block'] as const)(
    'starts without the item, with %s too: somebody wants it left out',
    (itemFailurePolicy) => {
      const { decision } = start(build({ itemFailurePolicy }), held('film'), upload('other'));
      expect(decision).toMatchObject({ ready: true, action: { do: 'create' } });
      expect(programIn(decision.action).video.items.map(({ rendition }) => rendition !== '')).toEqual([false, true]);
    },
  );

  it('does not start where all of its items are in quarantine, and says why', () => {
    const { decision, stream: after } = start(build(), held('film'), held('other'));
    expect(decision).toMatchObject({ ready: false, action: { do: 'nothing' } });
    expect(findCondition(after.status?.conditions, 'MediaReady')).toMatchObject({
      status: 'False',
      reason: 'UploadQuarantined',
      message: expect.stringContaining(REASON),
    });
  });
});
