/** Lists invalid streams. */
import {
  CRON,
  DISPLAY_NAME,
  LABEL_VALUE,
  REFERENCE,
  SENTENCES,
  TIME_ZONE,
} from '../../../../src/core/lib/sentences.ts';
import { type Bad, STREAM, sentence } from './shapes.ts';

const ASKED = { name: 'S', quality: 'q_720p', framerate: 'f_30', destinationID: 'd', videoUploadObjectID: 'u' };
const without = (key: keyof typeof ASKED) => Object.fromEntries(Object.entries(ASKED).filter(([k]) => k !== key));
const buildRest = (field: string, body: object, words?: RegExp): NonNullable<Bad['rest']> => ({
  path: '/v1/streams',
  body: { ...ASKED, ...body },
  field,
  ...(words && { sentence: words }),
});
const stream = (spec: object, field: string, words: string, rest?: Bad['rest']): Bad => ({
  kind: STREAM,
  spec: { uploadName: 'u', destinationNames: ['d'], ...spec },
  field: `spec.${field}`,
  sentence: words,
  ...(rest && { rest }),
});
/** Manifests and REST have the recurrence under the same names. */
const recurring = (recurrence: object | string, field: string, words: string): Bad =>
  stream(
    { schedule: { recurrence } },
    `schedule.recurrence${field && `.${field}`}`,
    words,
    buildRest(`/recurrence${field && `/${field}`}`, { recurrence }),
  );
const at = (more: object) => ({ cron: '0 18 * * 5', timeZone: 'UTC', durationSeconds: 3600, ...more });
const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const EARLY = '2099-06-01T11:30:00Z';
const LATE = '2099-06-01T12:00:00Z';

export const STREAMS: Record<string, Bad> = {
  'nothing to loop': {
    kind: STREAM,
    spec: { destinationNames: ['d'] },
    field: 'spec.uploadName',
    sentence: SENTENCES.noMedia,
    rest: { path: '/v1/streams', body: without('videoUploadObjectID'), field: '/videoUploadObjectID' },
  },
  'two things to loop': stream(
    { playlistNames: ['p'] },
    'playlistNames',
    SENTENCES.twoMedia,
    buildRest('/playlistIDs', { playlistIDs: ['p'] }),
  ),
  'an empty list of playlists in place of an upload': {
    kind: STREAM,
    spec: { playlistNames: [], destinationNames: ['d'] },
    field: 'spec.uploadName',
    sentence: SENTENCES.noMedia,
  },
  'overlays without layers and without a scene': stream({ overlays: {} }, 'overlays', SENTENCES.layersOrScene),
  'overlays of its own and of a scene': stream(
    { overlays: { layers: [{ text: 'On air' }], sceneName: 'evening' } },
    'overlays',
    SENTENCES.layersOrScene,
  ),
  'the overlays of a scene, and whether they are required': stream(
    { overlays: { sceneName: 'evening', required: true } },
    'overlays.required',
    SENTENCES.requiredOfScene,
  ),
  'no word of destinations': {
    kind: STREAM,
    spec: { uploadName: 'u' },
    field: 'spec.destinationNames',
    sentence: SENTENCES.noDestination,
    rest: { path: '/v1/streams', body: without('destinationID'), field: '/destinationID' },
  },
  'destinations in both forms': stream(
    { destinations: [{ name: 'd' }] },
    'destinationNames',
    SENTENCES.destinationsTwice,
  ),
  'destinations of which none is enabled': {
    kind: STREAM,
    spec: { uploadName: 'u', destinations: [{ name: 'd', enabled: false }] },
    field: 'spec.destinations',
    sentence: SENTENCES.noneEnabled,
  },
  'no destination': stream(
    { destinationNames: [] },
    'destinationNames',
    'must not be empty',
    buildRest('/destinationIDs', { destinationIDs: [] }),
  ),
  'six destinations': stream(
    { destinationNames: names(6) },
    'destinationNames',
    'must have at most 5 entries',
    buildRest('/destinationIDs', { destinationIDs: names(6) }),
  ),
  'a destination twice': stream(
    { destinationNames: ['d', 'e', 'd'] },
    'destinationNames',
    SENTENCES.twice,
    buildRest('/destinationIDs', { destinationIDs: ['d', 'e', 'd'] }),
  ),
  'one destination that is no list': stream(
    { destinationNames: 'd' },
    'destinationNames',
    'must be a list',
    buildRest('/destinationIDs', { destinationIDs: 'd' }),
  ),
  'a destination by what people call it': stream(
    { destinationNames: ['d', 'My channel'] },
    'destinationNames[1]',
    sentence(REFERENCE),
  ),
  'a playlist twice': stream(
    { uploadName: undefined, playlistNames: ['p', 'p'] },
    'playlistNames',
    SENTENCES.twice,
    buildRest('/playlistIDs', { videoUploadObjectID: undefined, playlistIDs: ['p', 'p'] }),
  ),
  'an audio playlist twice': stream(
    { audioPlaylistNames: ['p', 'p'] },
    'audioPlaylistNames',
    SENTENCES.twice,
    buildRest('/audioPlaylistIDs', { audioPlaylistIDs: ['p', 'p'] }),
  ),
  '21 playlists': stream(
    { uploadName: undefined, playlistNames: names(21) },
    'playlistNames',
    'must have at most 20 entries',
    buildRest('/playlistIDs', { videoUploadObjectID: undefined, playlistIDs: names(21) }),
  ),
  'an upload without a name': stream(
    { uploadName: '' },
    'uploadName',
    'must not be empty',
    buildRest('/videoUploadObjectID', { videoUploadObjectID: '' }),
  ),
  'an upload in another namespace': stream({ uploadName: 'other/u' }, 'uploadName', sentence(REFERENCE)),
  'a quality that does not exist': stream(
    { quality: '480p' },
    'quality',
    'must be one of 720p, 1080p, 1440p, 2160p',
    buildRest('/quality', { quality: '480p' }, /^must be one of .*720p, 1080p, 1440p, 2160p$/),
  ),
  'a frame rate that does not exist': stream(
    { framerate: 50 },
    'framerate',
    'must be one of 24, 25, 30, 60',
    buildRest('/framerate', { framerate: 50 }, /^must be one of .*24, 25, 30, 60$/),
  ),
  // REST accepts both.
  'a frame rate as text': stream({ framerate: '30' }, 'framerate', 'must be a whole number'),
  'two replicas': stream({ replicas: 2 }, 'replicas', 'must be at most 1'),
  'less than none': stream({ replicas: -1 }, 'replicas', 'must be at least 0'),
  'a name shown that is too long': stream(
    { displayName: 'x'.repeat(201) },
    'displayName',
    'must have at most 200 characters',
    buildRest('/name', { name: 'x'.repeat(201) }),
  ),
  'a name shown that rings': stream(
    { displayName: 'bell \u0007' },
    'displayName',
    sentence(DISPLAY_NAME),
    buildRest('/name', { name: 'bell \u0007' }),
  ),
  'a name shown that moves the cursor of a terminal': stream(
    { displayName: '\u009b2J' },
    'displayName',
    sentence(DISPLAY_NAME),
    buildRest('/name', { name: '\u009b2J' }),
  ),
  'a name shown on two lines': stream(
    { displayName: 'a\nb' },
    'displayName',
    sentence(DISPLAY_NAME),
    buildRest('/name', { name: 'a\nb' }),
  ),
  'a name shown that says nothing': stream(
    { displayName: '' },
    'displayName',
    'must not be empty',
    buildRest('/name', { name: '' }),
  ),
  'a field that does not exist': stream(
    { qualty: '720p' },
    'qualty',
    'is not known',
    buildRest('/qualty', { qualty: 1 }),
  ),
  'a move that does not exist': stream(
    { disruptionPolicy: 'Sometimes' },
    'disruptionPolicy',
    'must be one of Never, OnDrain, Always',
  ),
  'a suspension in words': stream({ suspend: 'yes' }, 'suspend', 'must be yes or no'),
  'a life that ended before': stream({ ttlSecondsAfterFinished: -1 }, 'ttlSecondsAfterFinished', 'must be at least 0'),
  'a label of ours': stream(
    { template: { labels: { 'loopstream.dev/stream': 'other' } } },
    'template.labels',
    SENTENCES.ownLabels,
  ),
  'an annotation of ours': stream(
    { template: { annotations: { 'loopstream.dev/program': '{}' } } },
    'template.annotations',
    SENTENCES.ownLabels,
  ),
  'a pod that is not confined': stream(
    { template: { annotations: { 'container.apparmor.security.beta.kubernetes.io/streamer': 'unconfined' } } },
    'template.annotations',
    SENTENCES.security,
  ),
  'a pod that may do more': stream(
    { template: { securityContext: { privileged: true } } },
    'template.securityContext',
    'is not known',
  ),
  'a label that Kubernetes does not take': stream(
    { template: { labels: { team: 'a b' } } },
    'template.labels',
    LABEL_VALUE.sentence,
  ),
  'a class by its title': stream(
    { template: { priorityClassName: 'Very High' } },
    'template.priorityClassName',
    sentence(REFERENCE),
  ),
  'no spec': { kind: STREAM, field: 'spec', sentence: 'is required' },
  'a name of 58 characters': {
    kind: STREAM,
    name: 'n'.repeat(58),
    spec: { uploadName: 'u', destinationNames: ['d'] },
    field: 'metadata.name',
    sentence: SENTENCES.streamNameTooLong(57),
  },
};

export const SCHEDULES: Record<string, Bad> = {
  'an end before the start, in another zone': stream(
    { schedule: { startAt: LATE, endAt: '2099-06-01T13:30:00+02:00' } },
    'schedule.endAt',
    SENTENCES.endBeforeStart,
    buildRest('/scheduleEndAt', { scheduleStartAt: LATE, scheduleEndAt: '2099-06-01T13:30:00+02:00' }),
  ),
  'an end at the start': stream(
    { schedule: { startAt: EARLY, endAt: EARLY } },
    'schedule.endAt',
    SENTENCES.endBeforeStart,
    buildRest('/scheduleEndAt', { scheduleStartAt: EARLY, scheduleEndAt: EARLY }),
  ),
  'a time that is not one': stream(
    { schedule: { startAt: 'tomorrow' } },
    'schedule.startAt',
    'must be a time such as 2027-01-31T18:00:00Z',
    buildRest('/scheduleStartAt', { scheduleStartAt: 'tomorrow' }),
  ),
  'a deadline before the start': stream(
    { schedule: { startAt: EARLY, startingDeadlineSeconds: -5 } },
    'schedule.startingDeadlineSeconds',
    'must be at least 0',
  ),
  'a recurrence in words': recurring('daily', '', 'must be an object'),
  'a recurrence without a cron expression': recurring({ timeZone: 'UTC', durationSeconds: 60 }, 'cron', 'is required'),
  'a recurrence without a duration': recurring({ cron: '0 0 * * *' }, 'durationSeconds', 'is required'),
  'an empty cron expression': recurring(at({ cron: '' }), 'cron', 'must not be empty'),
  'four fields of cron': recurring(at({ cron: '0 18 * *' }), 'cron', CRON.sentence),
  'six fields of cron': recurring(at({ cron: '0 0 18 * * 5' }), 'cron', CRON.sentence),
  'the sixtieth minute': recurring(at({ cron: '60 18 * * 5' }), 'cron', CRON.sentence),
  'a nickname of cron': recurring(at({ cron: '@daily' }), 'cron', CRON.sentence),
  'an empty zone': recurring(at({ timeZone: '' }), 'timeZone', 'must not be empty'),
  'an offset for a zone': recurring(at({ timeZone: '+02:00' }), 'timeZone', TIME_ZONE.sentence),
  'a window of half a minute': recurring(at({ durationSeconds: 30 }), 'durationSeconds', 'must be at least 60'),
  'a window of a year': recurring(
    at({ durationSeconds: 365 * 86_400 }),
    'durationSeconds',
    `must be at most ${31 * 86_400}`,
  ),
};
