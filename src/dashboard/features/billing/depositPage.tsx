/** One crypto deposit: where to pay, and how far the payment has come, as it happens. */
import { Skeleton } from '@mantine/core';
import { IconChevronLeft, IconCoins } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { encode } from 'uqr';
import { type CryptoDeposit, problems } from '../../../service/client/index.ts';
import { useNow } from '../../api/context.tsx';
import { formatDecimal, formatIn, formatTime } from '../../lib/format.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { CopyText } from '../../ui/copyText.tsx';
import { Failure, Notice } from '../../ui/notices.tsx';
import page from '../../ui/page.module.css';
import { Bar, PageHead, useTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Tag } from '../../ui/tag.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import classes from './billing.module.css';
import { useDeposit } from './queries.ts';
import { depositLine, depositLook } from './text.ts';

/** A path of squares: an image would have to come from somewhere, and the page takes none but its own. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const { data, size } = encode(text, { border: 2 });
    const dark = data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { size, path: dark.join('') };
  }, [text]);
  return (
    <svg className={classes.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} data-testid="qr">
      <path d={path} shapeRendering="crispEdges" />
    </svg>
  );
}

function Copied({ label, value }: { label: string; value: string }) {
  return (
    <div className={classes.copied}>
      <div>
        <p className={page.dim}>{label}</p>
        <code>{value}</code>
      </div>
      <CopyText text={value} label="Copy" ariaLabel={`Copy the ${label.toLowerCase()}`} />
    </div>
  );
}

function Payments({ deposit: { payments, decimals, asset, neededConfirmations } }: { deposit: CryptoDeposit }) {
  if (payments.length === 0) return <p className={page.dim}>No payment has arrived yet.</p>;
  return (
    <ul className={classes.entries}>
      {payments.map((payment) => (
        <li key={`${payment.txid} ${payment.index}`}>
          <div>
            <strong>
              {formatDecimal(payment.amount, decimals)} {payment.asset ?? 'of another token'}
            </strong>
            <time dateTime={payment.at}>{formatTime(payment.at)}</time>
            <code className={classes.txid}>{payment.txid}</code>
            {payment.explanation && <span>{payment.explanation.message}</span>}
            {payment.state === 'confirming' && (
              <Bar
                value={(payment.confirmations ?? 0) / Math.max(1, neededConfirmations)}
                label={`Confirmations of ${formatDecimal(payment.amount, decimals)} ${asset}`}
              />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function DepositView({ deposit }: { deposit: CryptoDeposit }) {
  const { asset, network, state, amount, decimals, address, paymentUri, quote, explanation } = deposit;
  const now = new Date(useNow(state === 'waiting'));
  const { word, tone } = depositLook(state);
  const line = depositLine(deposit);
  useTitle(`Deposit in ${asset}`);
  useAnnounceChange(line);
  const open = state === 'waiting' || state === 'underpaid' || state === 'expired';
  return (
    <>
      <PageHead title={`Pay in ${asset}`} lead={`On ${network}, to an address that is yours alone.`}>
        <Tag tone={tone} icon={IconCoins}>
          {word}
        </Tag>
      </PageHead>
      <div className={page.columns}>
        <div className={page.column}>
          <Panel title={open ? 'Pay here' : 'Paid to'}>
            <p role="status" data-testid="deposit-line">
              {line}
            </p>
            {explanation && <p className={classes.outlook}>{explanation.message}</p>}
            <div className={classes.pay}>
              {open && <QrCode text={paymentUri} label={`QR code of the address ${address}`} />}
              <div className={classes.facts}>
                {amount !== null && <Copied label="Amount" value={formatDecimal(amount, decimals)} />}
                <Copied label="Address" value={address} />
                <p className={page.dim}>
                  1 {asset} is {quote.rate} {quote.currency}
                  {state === 'waiting' && `, until ${formatTime(quote.expiresAt)} (${formatIn(quote.expiresAt, now)})`}.
                  Send only {asset} on {network}: anything else is lost.
                </p>
              </div>
            </div>
          </Panel>
        </div>
        <div className={page.column}>
          <Panel title="Payments">
            <Payments deposit={deposit} />
          </Panel>
        </div>
      </div>
    </>
  );
}

function Content({ query: { data, error, refetch } }: { query: ReturnType<typeof useDeposit> }) {
  const failure = useFailure(data, error);
  if ((error ?? failure) instanceof problems.CryptoDepositNotFound)
    return <Notice title="Deposit not found">Your account has no deposit with this id.</Notice>;
  if (data) return <DepositView deposit={data} />;
  if (failure) return <Failure title="The deposit could not be loaded" error={failure} retry={refetch} />;
  return <Skeleton height={320} radius="lg" />;
}

export function DepositPage({ id }: { id: string }) {
  const query = useDeposit(id);
  return (
    <>
      <nav aria-label="Breadcrumb" className={page.crumb}>
        <Link to="/billing">
          <IconChevronLeft size={16} aria-hidden /> Billing
        </Link>
      </nav>
      <Content query={query} />
    </>
  );
}
