/** The first page: streams on air, things that need a person, and the next starts. */
import { Button, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Failure } from '../../ui/notices.tsx';
import { PageHead, useTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { EmptyStreams } from '../streams/emptyStreams.tsx';
import { isUnseen } from '../streams/phase.ts';
import { Needing, NextStarts } from './attention.tsx';
import { OnAir } from './onAir.tsx';
import classes from './overview.module.css';
import { useFailedUploads, useOverview } from './queries.ts';
import { buildOverview, formatSummary } from './selectStreams.ts';

function Loading() {
  return (
    <div className={classes.columns} aria-busy="true">
      <VisuallyHidden role="status">Loading the overview</VisuallyHidden>
      <div className={classes.airGrid} aria-hidden>
        <Skeleton height={300} radius="lg" />
        <Skeleton height={300} radius="lg" />
      </div>
      <div className={classes.aside} aria-hidden>
        <Skeleton height={140} radius="lg" />
        <Skeleton height={120} radius="lg" />
      </div>
    </div>
  );
}

export function OverviewPage() {
  const { data, error, refetch } = useOverview();
  const failure = useFailure(data, error);
  const failed = useFailedUploads();
  const overview = buildOverview(data?.streams ?? [], failed);
  const live = overview.onAir.filter((stream) => stream.status === 'live' && !isUnseen(stream, stream.status)).length;
  useTitle(live > 0 ? `● ${live} on air` : 'Overview');

  if (failure) return <Failure title="The overview could not be loaded" error={failure} retry={refetch} />;
  if (data && !data.any)
    return (
      <>
        <PageHead title="Overview" />
        <EmptyStreams />
      </>
    );
  return (
    <>
      <PageHead title="Overview" lead={data && formatSummary(overview)}>
        <Button component={Link} to="/create" leftSection={<IconPlus size={16} aria-hidden />}>
          New stream
        </Button>
      </PageHead>
      {!data && <Loading />}
      {data && (
        <div className={classes.columns}>
          <section aria-labelledby="on-air">
            <h2 id="on-air" className={classes.sectionTitle}>
              On air
            </h2>
            <OnAir streams={overview.onAir} />
          </section>
          <div className={classes.aside}>
            <Panel title="Needs you">
              <Needing streams={overview.needing} uploads={overview.failed} />
            </Panel>
            <Panel title="Next starts">
              <NextStarts streams={overview.next} />
            </Panel>
          </div>
        </div>
      )}
    </>
  );
}
