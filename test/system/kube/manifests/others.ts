/** Lists invalid uploads, playlists, destinations and scenes. */
import {
  CRON,
  DISPLAY_NAME,
  LINK,
  OVERLAY_TEXT,
  REFERENCE,
  SENTENCES,
  TIME_ZONE,
} from '../../../../src/core/lib/sentences.ts';
import { type Bad, DESTINATION, PLAYLIST, SCENE, sentence, UPLOAD } from './shapes.ts';

const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const link = (url: string, words: string): Bad => ({
  kind: UPLOAD,
  spec: { source: { url } },
  field: 'spec.source.url',
  sentence: words,
  rest: { path: '/v1/uploads/from-link', body: { type: 'VIDEO', url }, field: '/url' },
});
const list = (spec: object, field: string, words: string, body: object, restField = `/${field}`): Bad => ({
  kind: PLAYLIST,
  spec: { items: [], ...spec },
  field: `spec.${field}`,
  sentence: words,
  rest: { path: '/v1/playlists', body: { kind: 'video', mode: 'sequential', items: [], ...body }, field: restField },
});

const scene = (layer: object, field: string, words: string): Bad => ({
  kind: SCENE,
  spec: { layers: [layer] },
  field: `spec.layers[0]${field}`,
  sentence: words,
});

/** A playlist of one rule, by both doors. */
const rule = (given: object, field: string, words: string, restField = field.replaceAll('.', '/')): Bad =>
  list(
    { rules: [{ name: 'r', uploadName: 'u', when: { eachItems: 5 }, ...given }] },
    `rules[0]${field}`,
    words,
    { rules: [{ name: 'r', uploadObjectID: 'u', when: { eachItems: 5 }, ...given }] },
    `/rules/0${restField}`,
  );
const when = (given: object, field: string, words: string): Bad => rule({ when: given }, `.when${field}`, words);
const window = { cron: '0 0 * * *', timeZone: 'UTC', durationSeconds: 60 };

export const OTHERS: Record<string, Bad> = {
  'a rule for each second': when({ everySeconds: 1 }, '.everySeconds', 'must be at least 10'),
  'a rule that plays never': when({}, '', SENTENCES.oneWhen),
  'a rule that plays at two times': when({ eachItems: 5, everySeconds: 60 }, '', SENTENCES.oneWhen),
  'a rule of no times': when({ at: { cron: 'noon', timeZone: 'UTC' } }, '.at.cron', CRON.sentence),
  'a rule on Mars': when({ at: { cron: '0 0 * * *', timeZone: 'Mars!' } }, '.at.timeZone', TIME_ZONE.sentence),
  'a window of no length': when(
    { window: { ...window, durationSeconds: 0 } },
    '.window.durationSeconds',
    'must be at least 60',
  ),
  'a rule of a playlist and an upload': {
    kind: PLAYLIST,
    spec: { items: [], rules: [{ name: 'r', uploadName: 'u', playlistName: 'p', when: { eachItems: 5 } }] },
    field: 'spec.rules[0]',
    sentence: SENTENCES.oneRuleSource,
  },
  'a playlist of 51 rules': list(
    { rules: names(51).map((name) => ({ name, uploadName: 'u', when: { eachItems: 5 } })) },
    'rules',
    'must have at most 50 entries',
    { rules: names(51).map((name) => ({ name, uploadObjectID: 'u', when: { eachItems: 5 } })) },
  ),
  'a scene without layers': { kind: SCENE, spec: { layers: [] }, field: 'spec.layers', sentence: 'must not be empty' },
  'a layer with neither a text nor a picture': scene({ anchor: 'Top' }, '', SENTENCES.oneOverlay),
  'a picture in bold': scene({ imageUploadName: 'logo', bold: true }, '', SENTENCES.overlayOfText),
  'a text with an unknown field': scene({ text: '{{next.title}}' }, '.text', sentence(OVERLAY_TEXT)),
  'a layer that is shown twice': scene(
    { text: 'On air', show: { firstSeconds: 1, lastSeconds: 1 } },
    '.show',
    SENTENCES.overlayShow,
  ),
  'a link to a file': link('file:///etc/passwd', sentence(LINK)),
  'a link that is none': link('not a link', sentence(LINK)),
  'a link to nowhere': link('https:///video.mp4', sentence(LINK, 1)),
  'a link with a password': link('https://ada:word@example.com/a.mp4', sentence(LINK, 2)),
  'a link on two lines': link('https://example.com/a\nb', sentence(LINK, 3)),
  'a link without an end': link(`https://example.com/${'a'.repeat(4096)}`, 'must have at most 4096 characters'),
  'an upload of pictures': {
    kind: UPLOAD,
    spec: { track: 'picture', source: { url: 'https://example.com/a' } },
    field: 'spec.track',
    sentence: 'must be one of video, audio, image',
    rest: {
      path: '/v1/uploads/from-link',
      body: { type: 'PICTURE', url: 'https://example.com/a' },
      field: '/type',
      sentence: /^must be one of VIDEO, AUDIO, IMAGE$/,
    },
  },
  'an upload without a source': { kind: UPLOAD, spec: {}, field: 'spec.source', sentence: 'is required' },
  'an upload of two sources': {
    kind: UPLOAD,
    spec: { source: { url: 'https://example.com/a', sent: { sizeBytes: 1 } } },
    field: 'spec.source',
    sentence: SENTENCES.oneSource,
  },
  'an upload of a source that is none': {
    kind: UPLOAD,
    spec: { source: {} },
    field: 'spec.source',
    sentence: SENTENCES.oneSource,
  },
  'an upload with a name of 56 characters': {
    kind: UPLOAD,
    name: 'u'.repeat(56),
    spec: { source: { url: 'https://example.com/a' } },
    field: 'metadata.name',
    sentence: SENTENCES.uploadNameTooLong(55),
  },
  'a playlist of pictures': list(
    { track: 'picture' },
    'track',
    'must be one of video, audio',
    { kind: 'picture' },
    '/kind',
  ),
  'a playlist played backwards': list({ mode: 'back' }, 'mode', 'must be one of sequential, shuffle', { mode: 'back' }),
  'a playlist without items': list({ items: undefined }, 'items', 'is required', { items: undefined }),
  'a playlist of 501 items': list(
    { items: names(501).map((uploadName) => ({ uploadName })) },
    'items',
    'must have at most 500 entries',
    { items: names(501).map((uploadObjectID) => ({ uploadObjectID })) },
  ),
  'an item that names nothing': list(
    { items: [{}] },
    'items[0].uploadName',
    'is required',
    { items: [{}] },
    '/items/0/uploadObjectID',
  ),
  'an item by its title': {
    kind: PLAYLIST,
    spec: { items: [{ uploadName: 'u' }, { uploadName: 'My film.mp4' }] },
    field: 'spec.items[1].uploadName',
    sentence: sentence(REFERENCE),
  },
  'a destination without a Secret': {
    kind: DESTINATION,
    spec: {},
    field: 'spec.secretName',
    sentence: 'is required',
  },
  'a destination whose Secret cannot be': {
    kind: DESTINATION,
    spec: { secretName: 'My Secret' },
    field: 'spec.secretName',
    sentence: sentence(REFERENCE),
  },
  'a destination that rings': {
    kind: DESTINATION,
    spec: { secretName: 's', displayName: '\u0007' },
    field: 'spec.displayName',
    sentence: sentence(DISPLAY_NAME),
    rest: {
      path: '/v1/destinations',
      body: { name: '\u0007', rtmpUrl: 'rtmp://example.com/live', rtmpKey: 'k' },
      field: '/name',
    },
  },
};
