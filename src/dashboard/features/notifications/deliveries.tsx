/** The list of what was sent to an endpoint, with the answers: newest first. */
import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import type { Delivery, Endpoint } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatAgo, formatIn, formatTime } from '../../lib/format.ts';
import forms from '../../ui/form.module.css';
import page from '../../ui/page.module.css';
import { More } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useOnce } from '../../ui/useOnce.ts';
import { Answer } from './answer.tsx';
import classes from './notifications.module.css';
import { useDeliveries, useEndpointsChanged } from './queries.ts';
import { RecoverButton } from './recover.tsx';
import { DeliveryTag } from './tags.tsx';
import { countAttempts, DELIVERY_STATES, nameType } from './text.ts';

type DeliveryState = Delivery['state'];

interface DeliveryProps {
  endpoint: Endpoint;
  delivery: Delivery;
}

function DeliveryItem({ endpoint, delivery }: DeliveryProps) {
  const { endpoints } = useApi().calls;
  const changed = useEndpointsChanged();
  const now = new Date(useNow());
  const { id, type, state, attempts, createdAt, nextAttemptAt, lastAnswer } = delivery;
  const replay = useOnce(() => endpoints.replay(endpoint.id, id), changed);
  const next = formatIn(nextAttemptAt, now);
  const what = nameType(type);
  return (
    <li className={classes.delivery} data-testid="delivery" data-state={state}>
      <div className={classes.deliveryHead}>
        <h3>{what}</h3>
        <DeliveryTag state={state} />
      </div>
      <p className={page.dim}>
        <time dateTime={createdAt} title={formatTime(createdAt)}>
          {formatAgo(new Date(createdAt), now)}
        </time>{' '}
        · {countAttempts(attempts)}
        {next && ` · ${attempts === 0 ? 'goes out' : 'next try'} ${next}`}
      </p>
      {lastAnswer && <Answer answer={lastAnswer} />}
      {replay.problem && (
        <p className={forms.problem} role="alert">
          {replay.problem}
        </p>
      )}
      {endpoint.state === 'active' && (
        <Button
          variant="default"
          size="xs"
          className={classes.again ?? ''}
          leftSection={<IconRefresh size={15} aria-hidden />}
          aria-label={`Send again: ${what}, ${formatTime(createdAt)}`}
          loading={replay.busy}
          onClick={() => replay.run(undefined)}
        >
          Send again
        </Button>
      )}
    </li>
  );
}

const FILTERS = [
  { value: '', label: 'All' },
  ...Object.entries(DELIVERY_STATES).map(([value, { word }]) => ({ value, label: word })),
];

export function DeliveriesPanel({ endpoint }: { endpoint: Endpoint }) {
  const [state, setState] = useState<DeliveryState>();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useDeliveries(endpoint.id, state);
  const deliveries = data?.pages.flatMap((one) => one.data);
  return (
    <Panel title="Sent" action={endpoint.state === 'active' && <RecoverButton id={endpoint.id} />}>
      <NativeSelect
        className={classes.filter ?? ''}
        aria-label="Show in this state"
        data={FILTERS}
        value={state ?? ''}
        onChange={(event) => setState((event.currentTarget.value || undefined) as DeliveryState | undefined)}
      />
      {error && !deliveries && <p role="alert">{problemText(error)}</p>}
      {!deliveries && !error && <Skeleton height={80} />}
      {deliveries?.length === 0 && (
        <p className={page.dim}>
          {state ? 'Nothing is in this state.' : 'Nothing was sent yet. Events are sent as they happen.'}
        </p>
      )}
      <ul className={classes.deliveries}>
        {deliveries?.map((delivery) => (
          <DeliveryItem key={delivery.id} endpoint={endpoint} delivery={delivery} />
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => void fetchNextPage()} />}
    </Panel>
  );
}
