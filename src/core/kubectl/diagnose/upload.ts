/** Tells the story of an upload. */

import { JOBS, type Job, type Pod } from '../../kube/core.ts';
import { findFix } from '../../lib/codes/codes.ts';
import { UPLOAD_WARNINGS } from '../../lib/codes/uploads.ts';
import { UPLOAD_LABEL } from '../../resources/common/names.ts';
import { type LOUDNESS_LIMITS, nameProfile, parseSoundProfile } from '../../resources/upload/loudness.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { isPlain } from '../../resources/upload/spec.ts';
import { formatAge } from '../shell/age.ts';
import { listPodsOf } from '../streams/logs.ts';
import type { Reader } from './facts.ts';
import {
  type DiagnosedFact,
  findCrashes,
  listConditions,
  listEvents,
  listPods,
  listWords,
  mergeFindings,
  type Story,
  type StorySection,
} from './story.ts';

const percent = (part: number | undefined): string => (part === undefined ? '' : `${Math.floor(part * 100)} %`);

const isUnderWay = (state: string): boolean => state === 'importing' || state === 'preparing';

function describeState(state: string, progress: number | undefined): string {
  if (state === 'failed') return 'failed';
  return isUnderWay(state) && progress !== undefined ? `is ${state} (${percent(progress)})` : `is ${state}`;
}

const isSound = (profile: string): boolean => parseSoundProfile(profile) !== undefined;

/** Renditions of the file as it is: neither sounds of their own nor what streams add. */
const listRenditions = ({ status }: Upload) => (status?.renditions ?? []).filter(({ profile }) => isPlain(profile));

/** Name, state, progress, renditions. */
export const describeUploadRow = (upload: Upload): string[] => [
  upload.metadata.name,
  upload.status?.phase ?? 'new',
  isUnderWay(upload.status?.phase ?? '') ? percent(upload.status?.progress) : '',
  listRenditions(upload)
    .map(({ profile, state }) => `${profile} ${state}`)
    .join(', '),
];

/** Errors of the import and of the preparations, with their fixes. */
export function findUploadFaults({ metadata, status }: Upload): DiagnosedFact[] {
  const about = `Upload "${metadata.name}"`;
  const explainCode = (code: string) => {
    const fix = findFix(code, 'uploadError');
    return fix === undefined ? {} : { fix };
  };
  const { error, renditions = [], waiting } = status ?? {};
  const failed = renditions.flatMap(({ profile, state, error: why }) => {
    if (state !== 'failed' || !why) return [];
    const message = `${about} could not be prepared for ${nameProfile(profile)}: ${why.message}`;
    return [{ message, ...explainCode(why.code) }];
  });
  return [
    ...(error ? [{ message: `${about} failed: ${error.message}`, ...explainCode(error.code) }] : []),
    ...failed,
    ...(waiting
      ? [
          {
            message: `${about} waits for the server of its link: ${waiting.message}`,
            fix: `Do nothing: the next attempt is at ${waiting.nextTryAt}, the last one before ${waiting.until}.`,
          },
        ]
      : []),
  ];
}

const listWarnings = ({ status }: Upload): StorySection => ({
  title: 'Changes to the file, so that it plays',
  rows: (status?.warnings ?? []).map(({ code, message }) => [message, UPLOAD_WARNINGS[code].fix]),
});

const LIMITS: Record<(typeof LOUDNESS_LIMITS)[number], string> = {
  peak: 'its peaks leave no more room',
  boost: 'it would need a larger boost than maxBoostDb',
  cut: 'it would have to be made quieter by more than 12 dB',
  silence: 'it is silent',
};

const listSounds = ({ status }: Upload): StorySection => ({
  title: 'Sounds',
  rows: (status?.renditions ?? []).flatMap(({ profile, state, loudness, error }) => {
    if (!isSound(profile)) return [];
    const made = loudness?.integratedLufs === undefined ? '' : `${loudness.integratedLufs} LUFS`;
    const why = loudness?.limitedBy && LIMITS[loudness.limitedBy];
    return [[nameProfile(profile), state, made, error?.message ?? why ?? '']];
  }),
});

/** The pictures with overlays of streams in them, and the cards of a song. */
const listDrawn = ({ status }: Upload): StorySection => ({
  title: 'Overlays and cards',
  rows: (status?.renditions ?? []).flatMap(({ profile, state, error }) =>
    isPlain(profile) || isSound(profile) ? [] : [[nameProfile(profile), state, error?.message ?? '']],
  ),
});

const listJobs = (jobs: readonly Job[], now: Date): StorySection => ({
  title: 'Jobs',
  rows: jobs.map(({ metadata, status }) => {
    const end = status?.conditions?.find(
      ({ type, status: is }) => ['Complete', 'Failed'].includes(type) && is === 'True',
    );
    return [
      metadata.name,
      end?.type ?? (status?.active ? 'Running' : 'Waiting'),
      `${formatAge(metadata.creationTimestamp, now)} old`,
      end?.message ?? '',
    ];
  }),
});

export async function tellUpload(reader: Reader, name: string, now: Date): Promise<Story> {
  const { kube, namespace } = reader;
  const upload = await kube.get(UPLOADS, namespace, name);
  const [pods, jobs] = await Promise.all([
    reader.attempt<Pod[]>(listPodsOf(kube, namespace, UPLOAD_LABEL, name), []),
    reader.attempt<Job[]>(kube.list(JOBS, { namespace, labelSelector: `${UPLOAD_LABEL}=${name}` }), []),
  ]);
  const [words, events] = await Promise.all([
    pods[0] ? reader.words(pods[0]) : [],
    reader.events({ kind: 'Upload', name }, ...jobs.map(({ metadata }) => ({ kind: 'Job', name: metadata.name }))),
  ]);
  const { phase: state = 'new', progress, media } = upload.status ?? {};
  const length = media ? ` It lasts ${media.durationSeconds} s.` : '';
  const crashes = state === 'ready' ? [] : findCrashes(pods, now);
  return {
    summary: `Upload "${name}" ${describeState(state, progress)}.${length}`,
    findings: mergeFindings(findUploadFaults(upload), crashes),
    sections: [
      listConditions(upload.status?.conditions, now),
      {
        title: 'Renditions',
        rows: listRenditions(upload).map(({ profile, state: is, error }) => [profile, is, error?.message ?? '']),
      },
      listSounds(upload),
      listDrawn(upload),
      listWarnings(upload),
      listJobs(jobs, now),
      listPods(pods, now),
      listWords(words),
      listEvents(events, now),
    ],
    unseen: reader.unseen,
  };
}
