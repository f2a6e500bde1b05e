import { Button } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { type ChainReport, verifyPart } from '../../api/audit';
import { ApiError } from '../../api/client';
import { exact } from '../../parts/format/numbers';
import { StatusPill } from '../../parts/values/values';
import { auditWords } from '../../words/audit';
import { words } from '../../words/en';
import styles from './chain-check.module.css';

const texts = auditWords.chain;

/** Verifies the whole chain, part by part, and shows the progress. */
export function ChainCheck() {
  const [progress, setProgress] = useState('');
  const check = useMutation({
    mutationFn: async (): Promise<ChainReport> => {
      let report = await verifyPart(0);
      while (report.next_after !== null) {
        setProgress(texts.progress(exact(report.verified_up_to), exact(report.total)));
        report = await verifyPart(report.next_after);
      }
      return report;
    },
    onSettled: () => setProgress(''),
  });
  return (
    <>
      <span className={styles.outcome} role="status">
        {check.isPending ? progress : <Outcome report={check.data} error={check.error} />}
      </span>
      <Button
        leftSection={<IconShieldCheck size={14} aria-hidden />}
        loading={check.isPending}
        onClick={() => check.mutate()}
      >
        {texts.verify}
      </Button>
    </>
  );
}

function Outcome({ report, error }: { report: ChainReport | undefined; error: Error | null }) {
  if (error) {
    const { message } = ApiError.from(error);
    return <StatusPill tone="error">{message === '' ? words.errors.unreachable : message}</StatusPill>;
  }
  if (!report) return null;
  if (report.problem === null)
    return (
      <StatusPill tone="success" withIcon>
        {texts.holds(exact(report.verified_up_to))}
      </StatusPill>
    );
  return (
    <StatusPill tone="error" withIcon>
      {texts.broken(exact(report.broken_at ?? report.verified_up_to + 1), texts.problems[report.problem])}
    </StatusPill>
  );
}
