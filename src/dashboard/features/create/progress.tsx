/** A stream that was just made, on its way to air: the stages that are done, and the one that it waits for. */
import { Button, Loader, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconAlertCircle, IconCircle, IconCircleCheckFilled } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { type Playlist, problems } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { Deleted, Missing } from '../../ui/detailPage.tsx';
import { Name } from '../../ui/name.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Bar } from '../../ui/page.tsx';
import { Poster } from '../../ui/poster.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { Named } from '../references/named.tsx';
import { STREAM } from '../streams/kind.tsx';
import { useReadiness, useShownPhase, useStream } from '../streams/queries.ts';
import { useUploadsById } from '../uploads/queries.ts';
import { useFiles, useSendings } from '../uploads/sending.tsx';
import classes from './create.module.css';
import type { DraftFile } from './draft.ts';
import { describeFile, type FileState } from './fileState.ts';
import { FileLines, listCutOff } from './files.tsx';
import { StageActs } from './stageActs.tsx';
import { computeStages, findOutlook, type Stage, type StreamOutlook } from './stages.ts';

const REFRESH_MS = 2_000;

const ICONS = {
  done: <IconCircleCheckFilled size={22} aria-hidden />,
  now: <Loader size={20} aria-hidden />,
  later: <IconCircle size={22} stroke={1.6} aria-hidden />,
  failed: <IconAlertCircle size={22} stroke={1.8} aria-hidden />,
};
const STATES = { done: 'Done:', now: 'In progress:', later: 'Next:', failed: 'Failed:' };

const TITLES: Record<StreamOutlook, string> = {
  live: 'is live',
  stuck: 'needs you',
  sending: 'is on its way',
  onItsWay: 'is on its way',
};
const FEET: Partial<Record<StreamOutlook, string>> = {
  stuck: 'The stream goes on from there once this is solved.',
  sending: 'You can go to other pages. Keep this window open until the file is sent.',
  onItsWay: 'You can leave this page. The stream goes on air as soon as all steps are done.',
};

interface StageLineProps {
  stage: Stage;
  stream: Stream;
  sent: StreamFiles;
}

function StageLine({ stage, stream, sent }: StageLineProps) {
  const { label, state, detail, fix, progress, isSending, acts = [] } = stage;
  return (
    <li data-state={state} data-testid="stage">
      {ICONS[state]}
      <div>
        <p className={classes.stage}>
          <VisuallyHidden>{STATES[state]} </VisuallyHidden>
          {label}
        </p>
        {isSending && state !== 'done' ? (
          <FileLines files={sent.files} states={sent.states} />
        ) : (
          <>
            {detail && (
              <p>
                <Named>{detail}</Named>
              </p>
            )}
            {fix && <p className={classes.fix}>{fix}</p>}
            {state === 'now' && progress !== undefined && <Bar value={progress} label={label} />}
          </>
        )}
        {acts.length > 0 && <StageActs acts={acts} stream={stream} />}
      </div>
    </li>
  );
}

interface StreamFiles {
  files: DraftFile[];
  states: FileState[];
}

const idsOf = ({ items }: Pick<Playlist, 'items'>): string[] => items.map(({ uploadObjectID }) => uploadObjectID);

/** The uploads that the stream plays, by itself and in its playlists. */
function useMediaIDs(stream: Stream | undefined): string[] {
  const { playlists } = useApi().calls;
  const lists = [...(stream?.playlistIDs ?? []), ...(stream?.audioPlaylistIDs ?? [])];
  const found = useQueries({
    queries: lists.map((id) => ({
      queryKey: ['playlists', 'one', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => playlists.get(id, { signal }),
      refetchInterval: unlessFollowed(REFRESH_MS),
    })),
    combine: (answers) => answers.flatMap(({ data }) => (data ? idsOf(data) : [])),
  });
  const video = stream?.videoUploadObjectID;
  return [...new Set([...(video ? [video] : []), ...found])];
}

/** Those of the media that this browser sends, or began to send before it was loaded anew. */
function useStreamFiles(mediaIDs: readonly string[], uploads: ReturnType<typeof useUploadsById>): StreamFiles {
  const account = useFiles();
  const sendings = useSendings();
  const unfinished = listCutOff(account);
  const files = mediaIDs.flatMap((objectID): DraftFile[] => {
    const sending = sendings.find((one) => one.objectID === objectID);
    const cut = unfinished.find((one) => one.objectID === objectID && uploads?.get(objectID)?.state === 'importing');
    const id = sending?.id ?? cut?.key ?? account?.sender.findFileID(objectID);
    if (id === undefined) return [];
    const { name = '', type = 'VIDEO' } = uploads?.get(objectID) ?? {};
    return [{ id, name: sending?.name ?? name, objectID, type }];
  });
  const states = files.map((file) =>
    describeFile(file, {
      sending: sendings.find(({ id }) => id === file.id),
      upload: uploads?.get(file.objectID),
      isUnfinished: unfinished.some(({ objectID }) => objectID === file.objectID),
    }),
  );
  return { files, states };
}

/** The uploads are known before the stream is read anew. */
const findPicture = (uploads: ReturnType<typeof useUploadsById>) =>
  [...(uploads?.values() ?? [])].find(({ posterUrl }) => posterUrl !== null)?.posterUrl;

/** Leads to the picture as soon as there is one. */
function useJumpWhenLive(id: string, isLive: boolean): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (isLive) void navigate({ to: '/streams/$id', params: { id }, replace: true });
  }, [id, isLive, navigate]);
}

export function CreateProgress({ id }: { id: string }) {
  const { data: stream, error, refetch } = useStream(id);
  const failure = useFailure(stream, error);
  const phase = useShownPhase({ id, status: stream?.status ?? 'idle' });
  const readiness = useReadiness(id);
  const mediaIDs = useMediaIDs(stream);
  const uploads = useUploadsById(mediaIDs);
  const sent = useStreamFiles(mediaIDs, uploads);
  const stages = stream
    ? computeStages({
        stream,
        phase,
        readiness: readiness.data,
        uploads: mediaIDs.flatMap((one) => uploads?.get(one) ?? []),
        files: sent.states,
      })
    : [];
  const outlook = findOutlook(stages);
  const current = stages.find(({ state }) => state === 'now' || state === 'failed');
  useAnnounceChange(outlook === 'live' ? `${stream?.name} is live` : (current?.label ?? ''));
  useJumpWhenLive(id, outlook === 'live');

  if (error instanceof problems.StreamNotFound)
    return stream ? <Deleted kind={STREAM} name={stream.name} /> : <Missing kind={STREAM} />;
  if (failure) return <Failure title="The stream could not be loaded" error={failure} retry={refetch} />;
  if (!stream) return <Skeleton height={240} radius="lg" />;
  return (
    <section className={classes.card} aria-labelledby="progress" data-testid="create-progress" data-outlook={outlook}>
      <div className={classes.progressHead}>
        <Poster url={stream.posterUrl ?? findPicture(uploads)} kind="VIDEO" />
        <h2 id="progress" className={classes.progressTitle}>
          “<Name>{stream.name}</Name>” {TITLES[outlook]}
        </h2>
      </div>
      <ol className={classes.stages}>
        {stages.map((stage) => (
          <StageLine key={stage.label} stage={stage} stream={stream} sent={sent} />
        ))}
      </ol>
      {FEET[outlook] && <p className={classes.none}>{FEET[outlook]}</p>}
      <div className={classes.buttons}>
        <Button component={Link} to="/streams/$id" params={{ id } as never} variant="default">
          Open the stream
        </Button>
      </div>
    </section>
  );
}
