/** Lists the labels, choices and defaults of a stream’s fields. Made from src/service/domain/streams/fields.ts by `make generate`. */
export const LABELS = {
  name: 'Name',
  quality: 'Quality',
  framerate: 'Frame rate',
  destinationIDs: 'Destinations',
  videoUploadObjectID: 'Video',
  playlistIDs: 'Playlists',
  audioPlaylistIDs: 'Audio playlists',
  labels: 'Labels',
  onItemFailure: 'Items that cannot be played',
  start: 'Play the media',
  loudness: 'Loudness',
  overlays: 'Overlays',
  slateUploadObjectID: 'Picture while nothing can be played',
  cards: 'Show a picture for each song',
} as const;

export const CHOICES = {
  quality: [
    { value: 'q_720p', label: '720p' },
    { value: 'q_1080p', label: '1080p (Full HD)' },
    { value: 'q_1440p', label: '1440p' },
    { value: 'q_2160p', label: '2160p (4K)' },
  ],
  framerate: [
    { value: 'f_24', label: '24 fps (film)' },
    { value: 'f_25', label: '25 fps' },
    { value: 'f_30', label: '30 fps' },
    { value: 'f_60', label: '60 fps' },
  ],
  onItemFailure: [
    { value: 'Skip', label: 'Leave them out until they can be played' },
    { value: 'Block', label: 'Wait until every item can be played' },
  ],
  start: [
    { value: 'Progressive', label: 'As soon as enough of it is prepared' },
    { value: 'Prepared', label: 'When all of it is prepared' },
  ],
} as const;

export const DEFAULTS = { quality: 'q_1080p', framerate: 'f_30', onItemFailure: 'Skip', start: 'Progressive' } as const;
