/** Lists payments and bookings, the latest first. */
import { IconCoins, IconCreditCard } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Billing, CryptoDeposit, LedgerEntry, TopUp } from '../../../service/client/index.ts';
import { formatCredits, formatDecimal, formatMinor, formatTime } from '../../lib/format.ts';
import { Tag } from '../../ui/tag.tsx';
import classes from './billing.module.css';
import { PanelList } from './panelList.tsx';
import { useDeposits, useEntries, useTopUps } from './queries.ts';
import { StreamName } from './streamName.tsx';
import { depositLook, kindWord, topUpLook } from './text.ts';

const When = ({ at }: { at: string }) => <time dateTime={at}>{formatTime(at)}</time>;

export const TopUps = () => (
  <PanelList<TopUp> query={useTopUps()} none="No payments by card yet." getKey={({ id }) => id}>
    {({ state, amountMinor, createdAt, checkoutUrl, ...money }) => (
      <>
        <div>
          <strong>{formatMinor(amountMinor, money)}</strong>
          <When at={createdAt} />
        </div>
        {checkoutUrl !== null && state === 'open' ? (
          <a href={checkoutUrl}>Pay now</a>
        ) : (
          <Tag tone={topUpLook(state).tone} icon={IconCreditCard}>
            {topUpLook(state).word}
          </Tag>
        )}
      </>
    )}
  </PanelList>
);

export const Deposits = () => (
  <PanelList<CryptoDeposit> query={useDeposits()} none="No payments in crypto yet." getKey={({ id }) => id}>
    {({ id, state, amount, asset, decimals, createdAt }) => (
      <>
        <div>
          <Link to="/billing/deposits/$id" params={{ id }}>
            {amount === null ? asset : `${formatDecimal(amount, decimals)} ${asset}`}
          </Link>
          <When at={createdAt} />
        </div>
        <Tag tone={depositLook(state).tone} icon={IconCoins}>
          {depositLook(state).word}
        </Tag>
      </>
    )}
  </PanelList>
);

export const LedgerEntries = ({ billing }: { billing: Billing }) => (
  <PanelList<LedgerEntry> query={useEntries()} none="No entries yet." getKey={({ number }) => String(number)}>
    {({ kind, credits, at, reason, streamID }) => (
      <>
        <div>
          <strong>
            {kindWord(kind)}
            {streamID && ': '}
            {streamID && <StreamName id={streamID} />}
          </strong>
          <When at={at} />
          {reason && <span>{reason}</span>}
        </div>
        <span className={classes.amount} data-less={credits.startsWith('-') || undefined}>
          {formatCredits(credits, billing, { exactly: true })}
        </span>
      </>
    )}
  </PanelList>
);
