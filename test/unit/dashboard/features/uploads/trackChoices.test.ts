import { describe, expect, test } from 'vitest';
import { listTrackChoices } from '../../../../../src/dashboard/features/uploads/trackChoices.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';

type Track = Upload['declaredTracks'][number];
const track = (index: number, kind: Track['kind'], more: Partial<Track> = {}): Track => ({
  index,
  kind,
  codec: kind === 'AUDIO' ? 'aac' : 'h264',
  language: null,
  title: null,
  channels: kind === 'AUDIO' ? 2 : null,
  playable: true,
  automatic: false,
  ...more,
});
const FILM = [
  track(0, 'VIDEO', { automatic: true }),
  track(1, 'AUDIO', { language: 'eng', automatic: true }),
  track(2, 'AUDIO', { language: 'deu', title: 'Kommentar' }),
  track(3, 'AUDIO', { codec: 'apac', channels: null, playable: false }),
];
const film = (tracks: Upload['tracks'] = null, declaredTracks = FILM, type: Upload['type'] = 'VIDEO') => ({
  type,
  tracks,
  declaredTracks,
});

describe('the choices of a track', () => {
  test('are offered where the file has more than one of its kind', () => {
    expect(listTrackChoices(film(), 'VIDEO')).toBeUndefined();
    const { value, options = [] } = listTrackChoices(film(), 'AUDIO') ?? {};
    expect(value).toBe('');
    expect(options.map(({ label, disabled }) => [label, disabled])).toEqual([
      ['Automatic (1: English, AAC stereo)', false],
      ['1: English, AAC stereo', false],
      ['2: German, AAC stereo, Kommentar', false],
      ['3: apac, cannot be played', true],
    ]);
    expect(listTrackChoices(film(null, [track(0, 'VIDEO'), track(1, 'VIDEO')], 'AUDIO'), 'VIDEO')).toBeUndefined();
  });

  test('keep the choice of the other kind', () => {
    const choices = listTrackChoices(film({ video: 0, audio: 2, audioRight: null }), 'AUDIO');
    expect(choices?.value).toBe('2');
    expect(choices?.options.slice(0, 2).map(({ tracks }) => tracks)).toEqual([{ video: 0 }, { video: 0, audio: 1 }]);
  });

  test('offer two mono tracks as left and right', () => {
    const side = { channels: 1, automatic: true };
    const mono = [track(0, 'VIDEO'), track(1, 'AUDIO', side), track(2, 'AUDIO', side)];
    const choices = listTrackChoices(film({ video: null, audio: 1, audioRight: 2 }, mono), 'AUDIO');
    expect(choices?.value).toBe('1,2');
    expect(choices?.options.at(-1)).toMatchObject({ value: '1,2', tracks: { audio: 1, audioRight: 2 } });
    expect(choices?.options[0]?.label).toBe('Automatic (1 on the left, 2 on the right)');
  });

  test('show a choice that is not in the file, and the way back', () => {
    const choices = listTrackChoices(film({ video: 7, audio: null, audioRight: null }), 'VIDEO');
    expect(choices?.value).toBe('7');
    expect(choices?.options.at(-1)).toMatchObject({ label: '7: not in the file', disabled: true });
    expect(choices?.options[0]?.tracks).toEqual({});
  });
});
