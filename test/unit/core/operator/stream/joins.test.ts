import { describe, expect, it } from 'vitest';
import { findJoins } from '../../../../../src/core/operator/stream/joins.ts';
import type { ProgramItem } from '../../../../../src/core/resources/stream/playing.ts';
import { buildProgram } from '../../../../kit/make/streamer.ts';

const epoch = '2026-06-01T12:00:00Z';
const build = (...items: ProgramItem[]) => buildProgram(items, { epoch });
const later = (...items: ProgramItem[]) => ({ ...build(...items), version: 2 });
const a = { id: 'a', name: 'A', rendition: 'renditions/a.flv' };
const b = { id: 'b', name: 'B', rendition: 'renditions/b.flv' };
const leftOut = { ...b, rendition: '' };
const sound = 'renditions/a.sound.flv';
const card = 'renditions/scope/a/audio-720p30-cabcdef.flv';
const look = 'renditions/scope/a/video-720p30-l3k9x0a-v1.flv';
const other = 'renditions/scope/a/video-720p30-labcdef.flv';

describe('what joins a program on air', () => {
  it('is an item that was left out, with its sound or without', () => {
    expect(findJoins(later(a, b), build(a, leftOut))).toBe('items');
    expect(findJoins(later(a, { ...b, sound }), build(a, leftOut))).toBe('aside');
  });

  it('is a sound that was made, also beside an item', () => {
    expect(findJoins(later({ ...a, sound }, b), build(a, b))).toBe('aside');
    expect(findJoins(later({ ...a, sound }, b), build(a, leftOut))).toBe('aside');
  });

  it('is the sound of a song that was made', () => {
    const play = (...songs: Parameters<typeof build>) => ({ ...later(a), audio: build(...songs).video });
    expect(findJoins(play({ ...a, sound }, b), play(a, b))).toBe('aside');
    expect(findJoins(play(a, b), play({ ...a, sound }, b))).toBeUndefined();
  });

  it('is a look that was made, in the place of the pictures or of another look', () => {
    expect(findJoins(later({ ...a, rendition: look }, b), build(a, b))).toBe('aside');
    expect(
      findJoins(later({ ...a, rendition: other }, { ...b, sound }), build({ ...a, rendition: look }, leftOut)),
    ).toBe('aside');
  });

  it('is a card that was made, in the place of none or of another one, and no song that plays changes', () => {
    const play = (...songs: Parameters<typeof build>) => ({ ...later(a), audio: build(...songs).video });
    const shown = { ...b, card };
    expect(findJoins(play(a, shown), { ...play(a, b), version: 1 })).toBe('aside');
    expect(findJoins(play(shown), play({ ...b, card: other }))).toBe('aside');
    expect(findJoins(play(shown), play(leftOut))).toBe('aside');
    expect(findJoins(play(shown, a), play(shown, { ...a, rendition: '' }))).toBe('items');
    expect(findJoins(play(b), play(shown))).toBeUndefined();
    expect(findJoins(play({ ...shown, rendition: sound }), play(b))).toBeUndefined();
  });

  it.each([
    ['a look that goes', later(a, b), build({ ...a, rendition: look }, b)],
    ['a sound that goes', later(a, b), build({ ...a, sound }, b)],
    ['another sound', later({ ...a, sound: 'renditions/a.other.flv' }, b), build({ ...a, sound }, b)],
    ['another rendition', later({ ...a, rendition: 'renditions/a2.flv', sound }, b), build(a, b)],
    ['another order', later(b, a), build(a, b)],
    ['an item that goes', later(a), build(a, b)],
    ['a song', { ...later({ ...a, sound }), audio: build(b).video }, build(a)],
  ])('is not %s', (_what, next, current) => {
    expect(findJoins(next, current)).toBeUndefined();
  });
});
