/** A stream that was just made, on its way to air: the stages that are done, and the one that it waits for. */
import { Button, Loader, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconAlertCircle, IconBroadcast, IconCircle, IconCircleCheckFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { problems } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { unlessFollowed } from '../../api/feed.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { Deleted, Missing } from '../../ui/detailPage.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Bar } from '../../ui/page.tsx';
import { STREAM } from '../streams/kind.tsx';
import { useReadiness, useStream } from '../streams/queries.ts';
import classes from './create.module.css';
import { computeStages, type Stage } from './stages.ts';

const REFRESH_MS = 2_000;

const ICONS = {
  done: <IconCircleCheckFilled size={22} aria-hidden />,
  now: <Loader size={20} aria-hidden />,
  later: <IconCircle size={22} stroke={1.6} aria-hidden />,
  failed: <IconAlertCircle size={22} stroke={1.8} aria-hidden />,
};
const STATES = { done: 'Done:', now: 'In progress:', later: 'Next:', failed: 'Failed:' };

function StageLine({ stage: { label, state, detail, fix, progress } }: { stage: Stage }) {
  return (
    <li data-state={state}>
      {ICONS[state]}
      <div>
        <p className={classes.stage}>
          <VisuallyHidden>{STATES[state]} </VisuallyHidden>
          {label}
        </p>
        {detail && <p>{detail}</p>}
        {fix && <p>{fix}</p>}
        {state === 'now' && progress !== undefined && <Bar value={progress} label={label} />}
      </div>
    </li>
  );
}

function useUpload(id: string | null | undefined) {
  const { uploads } = useApi().calls;
  return useQuery({
    queryKey: ['uploads', 'one', id],
    queryFn: ({ signal }) => uploads.get(id ?? '', { signal }),
    enabled: Boolean(id),
    refetchInterval: unlessFollowed(REFRESH_MS),
  }).data;
}

export function CreateProgress({ id }: { id: string }) {
  const { data: stream, error, refetch } = useStream(id);
  const readiness = useReadiness(id);
  const upload = useUpload(stream?.videoUploadObjectID);
  const stages = stream ? computeStages(stream, readiness.data, upload) : [];
  const live = stages.at(-1)?.state === 'done';
  const current = stages.find(({ state }) => state === 'now' || state === 'failed');
  useAnnounceChange(live ? `${stream?.name} is live` : (current?.label ?? ''));

  if (error instanceof problems.StreamNotFound)
    return stream ? <Deleted kind={STREAM} name={stream.name} /> : <Missing kind={STREAM} />;
  if (error && !stream) return <Failure title="The stream could not be loaded" error={error} retry={refetch} />;
  if (!stream) return <Skeleton height={240} radius="lg" />;
  return (
    <section className={classes.card} aria-labelledby="progress" data-testid="create-progress" data-live={live}>
      <h2 id="progress" className={classes.progressTitle}>
        {live && <IconBroadcast size={24} aria-hidden />}
        {live ? `“${stream.name}” is live` : `“${stream.name}” is on its way`}
      </h2>
      <ol className={classes.stages}>
        {stages.map((stage) => (
          <StageLine key={stage.label} stage={stage} />
        ))}
      </ol>
      {!live && (
        <p className={classes.none}>You can leave this page. The stream goes on air as soon as all steps are done.</p>
      )}
      <div className={classes.buttons}>
        <Button component={Link} to="/streams/$id" params={{ id } as never} variant={live ? 'filled' : 'default'}>
          Open the stream
        </Button>
      </div>
    </section>
  );
}
