/** The list of endpoints. */
import { Button } from '@mantine/core';
import { IconBell, IconPlus } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Endpoint } from '../../../service/client/index.ts';
import { ActMenu } from '../../ui/actMenu.tsx';
import cover from '../../ui/cover.module.css';
import { Name } from '../../ui/name.tsx';
import { Failure } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { Empty, RowsLoading } from '../../ui/page.tsx';
import { Row } from '../../ui/row.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import { TestButton, TestOutcome, useActs, useTest } from './acts.tsx';
import { EndpointForm } from './form.tsx';
import { NotificationsHead } from './head.tsx';
import { EndpointIcon } from './kind.tsx';
import classes from './notifications.module.css';
import { useEndpoints, useEndpointsChanged } from './queries.ts';
import { StateTag } from './tags.tsx';
import { describeChoice, KIND_WORDS } from './text.ts';

const LEAD = 'Who is told when a stream goes off air, and of other events: people by message, and programs by webhook.';

function EndpointRow({ endpoint }: { endpoint: Endpoint }) {
  const { id, name, kind, target, state } = endpoint;
  const changed = useEndpointsChanged();
  const navigate = useNavigate();
  const test = useTest(endpoint);
  const { acts, question } = useActs(
    endpoint,
    () => void navigate({ to: '/notifications/$id', params: { id }, search: { form: 'edit' } }),
    changed,
  );
  return (
    <Row
      data-testid="endpoint"
      data-state={state}
      name={name}
      icon={<EndpointIcon kind={kind} size={26} />}
      title={
        <Link to="/notifications/$id" params={{ id }} className={cover.cover}>
          <Name>{name}</Name>
        </Link>
      }
      facts={
        <>
          <p className={classes.target}>
            {KIND_WORDS[kind].label} · {target}
          </p>
          <p className={page.dim}>{describeChoice(endpoint)}</p>
        </>
      }
      actions={
        <>
          <StateTag endpoint={endpoint} />
          <div className={classes.acts}>
            {state === 'unverified' ? (
              <Link to="/notifications/$id" params={{ id }} className={classes.toCode} aria-label={`Confirm ${name}`}>
                Confirm
              </Link>
            ) : (
              <TestButton name={name} test={test} />
            )}
            <ActMenu isSmall label={`More actions for ${name}`} acts={acts} />
          </div>
        </>
      }
    >
      <TestOutcome test={test} />
      {question}
    </Row>
  );
}

export function EndpointsPage() {
  const { data, error, isPending, refetch } = useEndpoints();
  const failure = useFailure(data, error);
  const changed = useEndpointsChanged();
  const navigate = useNavigate();
  const { opened, open, close } = useOpen();
  const endpoints = data?.data ?? [];
  const add = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => open('new')}>
      Add endpoint
    </Button>
  );

  if (failure) return <Failure title="Your endpoints could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <NotificationsHead lead={LEAD}>{endpoints.length > 0 && add}</NotificationsHead>
      {isPending && <RowsLoading what="your endpoints" />}
      {data && endpoints.length === 0 && (
        <Empty icon={IconBell} title="Nobody is told yet" action={add}>
          Add an e-mail address, a channel in Slack or Discord, or a program of your own. It gets a message as soon as a
          stream is off air, with the cause and what to do.
        </Empty>
      )}
      <ul className={page.list}>
        {endpoints.map((endpoint) => (
          <li key={endpoint.id}>
            <EndpointRow endpoint={endpoint} />
          </li>
        ))}
      </ul>
      {opened === 'new' && (
        <EndpointForm
          onClose={close}
          onDone={({ id }) => {
            void changed();
            // Going back from there does not lead into a form that was sent.
            return navigate({ to: '/notifications/$id', params: { id }, replace: true });
          }}
        />
      )}
    </>
  );
}
