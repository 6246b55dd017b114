/** Says events in words for people. Pure: no I/O, no clock. */
import type { AccountEventType } from './record.ts';

export type EventTone = 'bad' | 'warning' | 'good' | 'neutral';

export interface EventWords {
  /** Names the type in a list to choose from. */
  label: string;
  /** Says what has happened to an object with this name. */
  title: (name: string) => string;
  tone: EventTone;
}

export const EVENT_WORDS: Readonly<Record<AccountEventType, EventWords>> = {
  'stream.live': { label: 'A stream goes on air', title: (name) => `${name} is on air`, tone: 'good' },
  'stream.reconnecting': {
    label: 'A stream loses its destination',
    title: (name) => `${name} is looking for its destination`,
    tone: 'warning',
  },
  'stream.off_air': { label: 'A stream is off air', title: (name) => `${name} is off air`, tone: 'bad' },
  'stream.recovered': {
    label: 'A stream is on air again',
    title: (name) => `${name} is on air again`,
    tone: 'good',
  },
  'stream.stopped': { label: 'A stream stops', title: (name) => `${name} has stopped`, tone: 'neutral' },
  'stream.degraded': {
    label: 'A stream is on air with a problem',
    title: (name) => `${name} is on air with a problem`,
    tone: 'warning',
  },
  'stream.scheduled_start_missed': {
    label: 'A scheduled start was missed',
    title: (name) => `${name} did not start as scheduled`,
    tone: 'bad',
  },
  'upload.ready': { label: 'An upload is ready', title: (name) => `Upload ${name} is ready`, tone: 'good' },
  'upload.failed': {
    label: 'An upload cannot be used',
    title: (name) => `Upload ${name} cannot be used`,
    tone: 'bad',
  },
  'upload.quarantined': {
    label: 'An upload is put in quarantine',
    title: (name) => `Upload ${name} is in quarantine`,
    tone: 'warning',
  },
  'upload.released': {
    label: 'The quarantine of an upload ends',
    title: (name) => `Upload ${name} plays again`,
    tone: 'good',
  },
  'playlist.published': {
    label: 'A playlist has a new version',
    title: (name) => `Playlist ${name} has a new version`,
    tone: 'neutral',
  },
  'destination.rejected': {
    label: 'A destination refuses a stream',
    title: (name) => `Destination ${name} refuses a stream`,
    tone: 'bad',
  },
  'platform.live': {
    label: 'Viewers see a stream',
    title: (name) => `Viewers see ${name}`,
    tone: 'good',
  },
  'platform.ended': {
    label: 'Viewers do not see a stream on air',
    title: (name) => `Viewers do not see ${name}`,
    tone: 'bad',
  },
  'platform.health': {
    label: 'A platform warns about a stream',
    title: (name) => `The platform warns about ${name}`,
    tone: 'warning',
  },
  'insert.dropped': {
    label: 'A rule of a playlist was left out',
    title: (name) => `${name} left out a rule of its playlist`,
    tone: 'warning',
  },
  'item.started': { label: 'An item starts', title: (name) => `${name} starts an item`, tone: 'neutral' },
  'schedule.upcoming': { label: 'A stream starts soon', title: (name) => `${name} starts soon`, tone: 'neutral' },
  'credit.low': { label: 'Your credit is low', title: () => 'Your credit is low', tone: 'warning' },
  'credit.exhausted': { label: 'Your credit is used up', title: () => 'Your credit is used up', tone: 'bad' },
  'invoice.issued': {
    label: 'An invoice was issued',
    title: (name) => `Invoice ${name} was issued`,
    tone: 'neutral',
  },
  'deposit.credited': {
    label: 'A crypto payment was credited',
    title: () => 'A crypto payment was credited',
    tone: 'good',
  },
  'key.created': {
    label: 'An API key was created',
    title: (name) => `API key ${name} was created`,
    tone: 'warning',
  },
};
