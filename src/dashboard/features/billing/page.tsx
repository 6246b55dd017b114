/** Money: the balance and how long it lasts, the ways to pay, usage and bookings. */
import { Button, Skeleton } from '@mantine/core';
import { IconCoins, IconCreditCard } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type Billing, problems } from '../../../service/client/index.ts';
import { formatCredits } from '../../lib/format.ts';
import { Failure, Notice } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { PageHead, useTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import classes from './billing.module.css';
import { DepositForm } from './depositForm.tsx';
import { AddressForm, Invoices } from './invoices.tsx';
import { NextStep } from './nextStep.tsx';
import { Deposits, LedgerEntries, TopUps } from './paymentLists.tsx';
import { PricePanel } from './prices.tsx';
import { useBilling, useMoneyChanged } from './queries.ts';
import { describeOutlook } from './text.ts';
import { TopUpForm } from './topUpForm.tsx';
import { UsagePanel } from './usage.tsx';

function Balance({ billing }: { billing: Billing }) {
  const { state, availableCredits, creditsPerHour, paymentMethods } = billing;
  return (
    <Panel title="Balance">
      <p className={`${classes.balance} ${classes.sentence}`} data-state={state} data-testid="balance">
        {formatCredits(availableCredits, billing)}
      </p>
      <p className={classes.outlook} data-state={state}>
        {describeOutlook(billing)} {state === 'suspended' && <NextStep billing={billing} />}
      </p>
      {creditsPerHour !== '0' && (
        <p className={page.dim}>{formatCredits(creditsPerHour, billing, { exactly: true })} per hour at present.</p>
      )}
      {paymentMethods.length === 0 && state !== 'suspended' && (
        <p className={page.dim}>
          Nobody can pay here yet. <NextStep billing={billing} />
        </p>
      )}
    </Panel>
  );
}

function Money({ billing }: { billing: Billing }) {
  const { opened, open, close } = useOpen();
  const navigate = useNavigate();
  const changed = useMoneyChanged();
  const takesCrypto = billing.paymentMethods.includes('crypto');
  const takesCards = billing.paymentMethods.includes('card');
  return (
    <>
      <PageHead title="Billing" lead="The cost of your streams on air, and your payments.">
        {takesCrypto && (
          <Button variant="default" leftSection={<IconCoins size={17} aria-hidden />} onClick={() => open('deposit')}>
            Pay in crypto
          </Button>
        )}
        {takesCards && (
          <Button leftSection={<IconCreditCard size={17} aria-hidden />} onClick={() => open('top-up')}>
            Add credit
          </Button>
        )}
      </PageHead>
      <div className={page.columns}>
        <div className={page.column}>
          <Balance billing={billing} />
          <UsagePanel billing={billing} />
          <PricePanel />
        </div>
        <div className={page.column}>
          <Panel title="Top-ups">
            <TopUps />
          </Panel>
          {takesCrypto && (
            <Panel title="Crypto deposits">
              <Deposits />
            </Panel>
          )}
          <Panel
            title="Invoices"
            action={
              <Button size="compact-sm" variant="default" onClick={() => open('address')}>
                Address
              </Button>
            }
          >
            <Invoices />
          </Panel>
          <Panel title="Ledger">
            <LedgerEntries billing={billing} />
          </Panel>
        </div>
      </div>
      {opened === 'top-up' && <TopUpForm billing={billing} onClose={close} />}
      {opened === 'address' && <AddressForm onClose={close} />}
      {opened === 'deposit' && (
        <DepositForm
          billing={billing}
          onClose={close}
          onDone={({ id }) => {
            void changed();
            return navigate({ to: '/billing/deposits/$id', params: { id }, replace: true });
          }}
        />
      )}
    </>
  );
}

export function BillingPage() {
  useTitle('Billing');
  const { data, error, refetch } = useBilling({ followed: true });
  const failure = useFailure(data, error);
  if (data) return <Money billing={data} />;
  if (failure instanceof problems.BillingDisabled)
    return <Notice title="Streams are free here">Billing is not enabled on this service.</Notice>;
  if (failure) return <Failure title="Your balance could not be loaded" error={failure} retry={refetch} />;
  return (
    <div aria-busy="true">
      <h1 className={page.loadingTitle}>Loading your balance…</h1>
      <div className={page.columns} aria-hidden>
        <Skeleton height={360} radius="lg" />
        <Skeleton height={240} radius="lg" />
      </div>
    </div>
  );
}
