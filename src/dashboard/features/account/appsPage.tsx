import { Button } from '@mantine/core';
import { IconPlugConnected, IconShieldQuestion } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConnectedApp } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { formatAgo, formatDay } from '../../lib/format.ts';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { Name } from '../../ui/name.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Empty, PageHead, RowsLoading } from '../../ui/page.tsx';
import { Tag } from '../../ui/tag.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import classes from './account.module.css';
import { keys, useConnectedApps } from './queries.ts';
import { listMeanings } from './scopes.ts';
import { UserOnly } from './userOnly.tsx';

const LEAD = 'Apps that may act for you, within the access that you allowed.';
const getName = ({ name }: ConnectedApp): string => name ?? 'An app without a name';

function AppRow({ app, now, onCut }: { app: ConnectedApp; now: number; onCut: () => void }) {
  return (
    <li className={classes.row}>
      <div className={classes.rowMain}>
        <div className={classes.nameRow}>
          <h2>
            <Name>{getName(app)}</Name>
          </h2>
          {!app.isVerified && (
            <Tag tone="attention" icon={IconShieldQuestion}>
              Unverified
            </Tag>
          )}
        </div>
        <ul className={classes.allowed}>
          {listMeanings(app.scopes).map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
        <p className={classes.dim}>
          Connected {formatDay(app.connectedAt)} ·{' '}
          {app.lastUsedAt === null
            ? 'not used since'
            : `last requested access ${formatAgo(new Date(app.lastUsedAt), new Date(now))}`}
        </p>
      </div>
      <Button variant="default" size="sm" onClick={onCut} aria-label={`Disconnect ${getName(app)}`}>
        Disconnect
      </Button>
    </li>
  );
}

function Apps() {
  const { data, error, isPending, refetch } = useConnectedApps();
  const failure = useFailure(data, error);
  const { connectedApps } = useApi().calls;
  const queries = useQueryClient();
  const now = useNow(false);
  const [cutting, setCutting] = useState<ConnectedApp>();
  if (failure) return <Failure title="Your apps could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <PageHead title="Connected apps" lead={LEAD} />
      {isPending && <RowsLoading what="your apps" />}
      {data?.data.length === 0 && (
        <Empty icon={IconPlugConnected} title="No app is connected">
          Enter the address of this loopstream in an app. The app sends you here, to a page that asks for your
          permission.
        </Empty>
      )}
      <ul className={classes.rows}>
        {data?.data.map((app) => (
          <AppRow key={app.id} app={app} now={now} onCut={() => setCutting(app)} />
        ))}
      </ul>
      {cutting && (
        <DeleteDialog
          noun="connection"
          name={getName(cutting)}
          remove={() => connectedApps.disconnect(cutting.id)}
          onClose={() => setCutting(undefined)}
          onDone={() => {
            setCutting(undefined);
            void queries.invalidateQueries({ queryKey: keys.apps });
          }}
        >
          The app loses access immediately. Its changes stay. To reconnect, it must ask you again.
        </DeleteDialog>
      )}
    </>
  );
}

export const AppsPage = () => (
  <UserOnly title="Connected apps">
    <Apps />
  </UserOnly>
);
