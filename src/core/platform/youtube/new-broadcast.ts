/**
 * Builds the broadcast that a repair makes. It continues the last one on the same key: title, text, who may see it. Nothing that was
 * private becomes public. Pure: no I/O, no clock.
 */
import type { BroadcastTemplate } from './answers.ts';

/** As the API checks them. */
const MAX_TITLE = 100;
const MAX_DESCRIPTION_BYTES = 5_000;
/** A time in the past is refused, and the clock of the platform may be ahead of ours. */
const SCHEDULE_AHEAD_MS = 30_000;

const DEFAULT_TITLE = 'Live';
/** The mark of an earlier repair. */
const MARKS = /\[kept on air: [0-9a-f-]{1,64}\]/g;

const writeMark = (mark: string): string => `[kept on air: ${mark}]`;

/** Cuts a text so that it has so many bytes at most, between characters. */
function cutBytes(text: string, bytes: number): string {
  // A decoder that expects more leaves out a character that is not whole.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

/** Without a last broadcast, the new one is public: the destination says that it has viewers. */
export function buildBroadcast(template: BroadcastTemplate | undefined, mark: string, nowMs: number): object {
  const { title = '', description = '', privacyStatus = 'public' } = template ?? {};
  const { isMadeForKids, latencyPreference, enableDvr } = template ?? {};
  const ending = `\n\n${writeMark(mark)}`;
  const text = cutBytes(description.replace(MARKS, '').trimEnd(), MAX_DESCRIPTION_BYTES - ending.length);
  return {
    snippet: {
      title: [...title.replace(/[<>]/g, '').trim()].slice(0, MAX_TITLE).join('') || DEFAULT_TITLE,
      description: `${text.replace(/[<>]/g, '')}${ending}`.trimStart(),
      scheduledStartTime: new Date(nowMs + SCHEDULE_AHEAD_MS).toISOString(),
    },
    status: { privacyStatus, ...(isMadeForKids !== undefined && { selfDeclaredMadeForKids: isMadeForKids }) },
    contentDetails: {
      enableAutoStart: true,
      enableAutoStop: false,
      ...(latencyPreference !== undefined && { latencyPreference }),
      ...(enableDvr !== undefined && { enableDvr }),
      // With a monitor stream, a broadcast would have to be tested before it can be live.
      monitorStream: { enableMonitorStream: false },
    },
  };
}

/** The template for a key: the broadcast that was last live on it, else the one that ended last. */
export function pickTemplate(
  templates: readonly BroadcastTemplate[],
  streamId: string,
  lastId: string | undefined,
): BroadcastTemplate | undefined {
  const last = templates.find(({ id }) => id === lastId);
  if (last) return last;
  const [newest] = templates
    .filter((one) => one.streamId === streamId)
    .toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0));
  return newest;
}
