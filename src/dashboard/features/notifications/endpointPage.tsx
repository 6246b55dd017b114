/** One endpoint: what is sent there, what came of it, and all acts on it. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Endpoint } from '../../../service/client/index.ts';
import { spokenDuration } from '../../lib/format.ts';
import { isolate } from '../../lib/isolate.ts';
import { ActMenu } from '../../ui/actMenu.tsx';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { DetailPage } from '../../ui/detailPage.tsx';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { PageHead, useTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useOpen } from '../../ui/useOpen.ts';
import { StreamName } from '../billing/streamName.tsx';
import { TestButton, TestOutcome, useActs, usePower, useTest } from './acts.tsx';
import { DeliveriesPanel } from './deliveries.tsx';
import { EndpointForm } from './form.tsx';
import { ENDPOINT } from './kind.tsx';
import classes from './notifications.module.css';
import { useEndpoint, useEndpointsChanged } from './queries.ts';
import { SecretPanel } from './secret.tsx';
import { StateTag } from './tags.tsx';
import { describeRule, describeState, KIND_WORDS, nameAllTypes, nameType } from './text.ts';
import { VerifyPanel } from './verify.tsx';

/** Says that nothing is sent, and why. */
function Off({ endpoint }: { endpoint: Endpoint }) {
  const { turn, busy } = usePower(endpoint);
  return (
    <div className={classes.off}>
      <p>
        {describeState(endpoint).meaning} After you turn it on, “Send what was missed” sends what happened meanwhile.
      </p>
      <Button variant="default" loading={busy} onClick={() => turn(true)}>
        Turn on
      </Button>
    </div>
  );
}

function ChosenPanel({ endpoint, onChange }: { endpoint: Endpoint; onChange: () => void }) {
  const { kind, types, objectIDs, rule } = endpoint;
  return (
    <Panel
      title="What is sent"
      action={
        <Button variant="default" size="xs" onClick={onChange}>
          Change
        </Button>
      }
    >
      <dl className={classes.chosen}>
        {rule && (
          <div>
            <dt>Messages</dt>
            <dd>{describeRule(rule).replace(/^a/, 'A')}</dd>
            <dd>
              One for {rule.flappingCount} outages within {spokenDuration(rule.flappingSeconds)}
            </dd>
          </div>
        )}
        <div>
          <dt>Events</dt>
          {types.length === 0 ? (
            <dd>{nameAllTypes(kind)}</dd>
          ) : (
            types.map((type) => <dd key={type}>{nameType(type)}</dd>)
          )}
        </div>
        <div>
          <dt>Streams</dt>
          {objectIDs.length === 0 ? (
            <dd>All</dd>
          ) : (
            objectIDs.map((id) => (
              <dd key={id}>
                <StreamName id={id} />
              </dd>
            ))
          )}
        </div>
      </dl>
    </Panel>
  );
}

function EndpointView({ endpoint }: { endpoint: Endpoint }) {
  const { id, name, kind, target, state } = endpoint;
  const queries = useQueryClient();
  const changed = useEndpointsChanged();
  const navigate = useNavigate();
  const { opened, open, close } = useOpen();
  const test = useTest(endpoint);
  const edit = () => open('edit');
  const { acts, question } = useActs(endpoint, edit, () => {
    void navigate({ to: '/notifications', replace: true });
    void changed();
  });
  useTitle(isolate(name));
  useAnnounceChange(`${name}: ${describeState(endpoint).word}`);
  return (
    <>
      <PageHead
        title={
          <span className={classes.title}>
            <Name>{name}</Name> <StateTag endpoint={endpoint} />
          </span>
        }
        lead={`${KIND_WORDS[kind].label} · ${target}`}
      >
        {state !== 'unverified' && <TestButton name={name} test={test} />}
        <ActMenu label={`More actions for ${name}`} acts={acts} />
      </PageHead>
      <div className={classes.notes}>
        {state === 'unverified' && <VerifyPanel endpoint={endpoint} />}
        {state === 'disabled' && <Off endpoint={endpoint} />}
        <TestOutcome test={test} />
      </div>
      <div className={page.columns}>
        <div className={page.column}>
          <DeliveriesPanel endpoint={endpoint} />
        </div>
        <div className={page.column}>
          <ChosenPanel endpoint={endpoint} onChange={edit} />
          {kind === 'webhook' && <SecretPanel endpoint={endpoint} />}
        </div>
      </div>
      {opened === 'edit' && (
        <EndpointForm
          before={endpoint}
          onClose={close}
          onDone={(after) => {
            queries.setQueryData(['endpoints', 'one', id], after);
            close();
            return changed();
          }}
        />
      )}
      {question}
    </>
  );
}

export function EndpointPage({ id }: { id: string }) {
  return (
    <DetailPage kind={ENDPOINT} query={useEndpoint(id)}>
      {(endpoint) => <EndpointView endpoint={endpoint} />}
    </DetailPage>
  );
}
