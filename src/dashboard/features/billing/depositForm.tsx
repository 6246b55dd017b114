/** Paying in crypto: the form asks for the asset and the amount; then there is an address. */
import { NativeSelect, Skeleton, TextInput } from '@mantine/core';
import type { Billing, CryptoAsset, CryptoDeposit } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatDecimal, parseMinor } from '../../lib/format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { useAssets } from './queries.ts';
import { describeAmount, suggestAmount } from './text.ts';

interface DepositValues {
  asset: string;
  amount: string;
}

const formatId = ({ asset, network }: Pick<CryptoAsset, 'asset' | 'network'>): string => `${asset} ${network}`;

interface FormProps {
  assets: readonly CryptoAsset[];
  onClose: () => void;
  onDone: (deposit: CryptoDeposit) => unknown;
  billing: Billing;
}

function Fields({ assets, onClose, onDone, billing }: FormProps) {
  const { crypto } = useApi().calls;
  const [first] = assets;
  const { currency } = billing;
  const { form, forgetBefore } = useDraftForm<DepositValues>({
    name: 'deposit',
    initialValues: { asset: first ? formatId(first) : '', amount: suggestAmount(billing) },
    validate: {
      amount: (text) =>
        text.trim() === '' || parseMinor(text, billing) ? null : `Enter ${describeAmount(billing)}, or leave it empty.`,
    },
  });
  const chosen = assets.find((asset) => formatId(asset) === form.values.asset) ?? first;
  const { submit, busy, problem } = useSubmit<DepositValues, CryptoDeposit>({
    send: ({ amount }, idempotencyKey) => {
      const amountMinor = parseMinor(amount, billing);
      const { asset = '', network = '' } = chosen ?? {};
      return crypto.create({ asset, network, ...(amountMinor && { amountMinor }) }, { idempotencyKey });
    },
    fields: ['asset', 'amount', 'amountMinor'],
    onMistakes: ({ amountMinor, ...mistakes }) =>
      form.setErrors({ ...mistakes, ...(amountMinor && { amount: amountMinor }) }),
    onDone: forgetBefore(onDone),
  });
  const cancel = forgetBefore(onClose);
  const data = assets.map((asset) => ({ value: formatId(asset), label: `${asset.asset} on ${asset.network}` }));
  return (
    <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
      <NativeSelect label="Paid in" data={data} {...form.getInputProps('asset')} />
      <TextInput
        label={`Amount in ${currency}`}
        description="Leave it empty to pay any amount."
        inputMode="decimal"
        autoComplete="off"
        {...form.getInputProps('amount')}
      />
      {chosen && (
        <p className={forms.help}>
          {chosen.rate ? `1 ${chosen.asset} is worth ${chosen.rate} ${chosen.currency} now. ` : ''}
          The minimum is {formatDecimal(chosen.minimumAmount, chosen.decimals)} {chosen.asset}. It is credited after{' '}
          {chosen.confirmations} {chosen.confirmations === 1 ? 'confirmation' : 'confirmations'}.
        </p>
      )}
      <FormEnd problem={problem} busy={busy} onCancel={cancel}>
        Get an address
      </FormEnd>
    </form>
  );
}

export function DepositForm({ onClose, onDone, billing }: Omit<FormProps, 'assets'>) {
  const { data, error } = useAssets();
  return (
    <Dialog title="Pay in crypto" onClose={onClose}>
      {error && <p role="alert">{problemText(error)}</p>}
      {!data && !error && <Skeleton height={160} />}
      {data?.length === 0 && <p>This service accepts no crypto currencies.</p>}
      {data && data.length > 0 && <Fields assets={data} onClose={onClose} onDone={onDone} billing={billing} />}
    </Dialog>
  );
}
