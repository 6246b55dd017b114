/** Lists invalid uploads, playlists, destinations and scenes. */
import { DISPLAY_NAME, LINK, OVERLAY_TEXT, REFERENCE, SENTENCES } from '../../../../src/core/lib/sentences.ts';
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

export const OTHERS: Record<string, Bad> = {
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
