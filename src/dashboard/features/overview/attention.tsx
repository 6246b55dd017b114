/** Shows beside the streams on air which things need a person, with the remedy, and which streams start next. */
import { IconCircleCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Upload } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { useNow } from '../../api/context.tsx';
import { formatIn, formatTime } from '../../lib/format.ts';
import { Name } from '../../ui/name.tsx';
import { Named } from '../references/named.tsx';
import { PhaseBadge } from '../streams/badge.tsx';
import { WAITS_FOR_CREDIT, withoutCredit } from '../streams/credit.ts';
import { IssueLines } from '../streams/issues.tsx';
import { getStreamLook, isRunning } from '../streams/phase.ts';
import { useReadiness } from '../streams/queries.ts';
import { UploadTag } from '../uploads/row.tsx';
import classes from './overview.module.css';

const NEEDING_SHOWN = 6;
const NEXT_SHOWN = 5;

/** The reason and the remedy: its readiness where something keeps it off air, else the fault on air. */
function Reason({ stream }: { stream: Stream }) {
  const { data } = useReadiness(stream.id, !stream.ready);
  const others = withoutCredit(data?.issues ?? []);
  if (others.length > 0) return <IssueLines issues={others.slice(0, 2)} named />;
  if (data && data.issues.length > 0) return <p className={classes.dim}>{WAITS_FOR_CREDIT}</p>;
  if (!isRunning(stream.status) || !stream.degraded)
    return <p className={classes.dim}>{getStreamLook(stream, stream.status).meaning}</p>;
  return (
    <p>
      <Named>{stream.degraded.message}</Named>
    </p>
  );
}

function FailedUpload({ upload: { name, error } }: { upload: Upload }) {
  return (
    <>
      <div className={classes.needHead}>
        <h3>
          <Link to="/uploads">
            <Name>{name}</Name>
          </Link>
        </h3>
        <UploadTag state="failed" />
      </div>
      <p>{error?.message ?? 'The upload failed.'}</p>
      <p className={classes.dim}>{error?.fix ?? 'Delete it, and add it again.'}</p>
    </>
  );
}

interface NeedingProps {
  streams: readonly Stream[];
  /** The failed ones. */
  uploads: readonly Upload[];
}

export function Needing({ streams, uploads }: NeedingProps) {
  const count = streams.length + uploads.length;
  if (count === 0)
    return (
      <p className={classes.fine}>
        <IconCircleCheck size={18} stroke={1.8} aria-hidden /> Nothing needs your attention.
      </p>
    );
  return (
    <>
      <ul className={classes.needs}>
        {streams.slice(0, NEEDING_SHOWN).map((stream) => (
          <li key={stream.id} data-testid="needs-you">
            <div className={classes.needHead}>
              <h3>
                <Link to="/streams/$id" params={{ id: stream.id }}>
                  <Name>{stream.name}</Name>
                </Link>
              </h3>
              <PhaseBadge stream={stream} phase={stream.status} />
            </div>
            <Reason stream={stream} />
          </li>
        ))}
        {uploads.slice(0, Math.max(0, NEEDING_SHOWN - streams.length)).map((upload) => (
          <li key={upload.objectID} data-testid="needs-you">
            <FailedUpload upload={upload} />
          </li>
        ))}
      </ul>
      {count > NEEDING_SHOWN && <p className={classes.dim}>And {count - NEEDING_SHOWN} more.</p>}
    </>
  );
}

export function NextStarts({ streams }: { streams: readonly Stream[] }) {
  const now = new Date(useNow(streams.length > 0));
  if (streams.length === 0)
    return <p className={classes.dim}>No stream has a start to come. Set a schedule on a stream’s page.</p>;
  return (
    <ol className={classes.next}>
      {streams.slice(0, NEXT_SHOWN).map(({ id, name, nextStartAt }) => (
        <li key={id}>
          <Link to="/streams/$id" params={{ id }}>
            <Name>{name}</Name>
          </Link>
          <time dateTime={nextStartAt ?? undefined}>
            {formatTime(nextStartAt)} <span>{formatIn(nextStartAt, now)}</span>
          </time>
        </li>
      ))}
    </ol>
  );
}
