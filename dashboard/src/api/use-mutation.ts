import {
  type DefaultError,
  type MutateOptions,
  useMutation as useAnyMutation,
  type UseMutationOptions,
  type UseMutationResult,
} from '@tanstack/react-query';
import { useCallback, useRef } from 'react';

/** `useMutation` that ignores a call while one runs: the second click of a double click comes before its button is disabled. */
export function useMutation<Data = unknown, Failure = DefaultError, Variables = void, Context = unknown>(
  options: UseMutationOptions<Data, Failure, Variables, Context>,
): UseMutationResult<Data, Failure, Variables, Context> {
  const isRunning = useRef(false);
  const onSettled: typeof options.onSettled = (...given) => {
    isRunning.current = false;
    return options.onSettled?.(...given);
  };
  const mutation = useAnyMutation({ ...options, onSettled });
  const { mutate: start } = mutation;
  const mutate = useCallback(
    (variables: Variables, callbacks?: MutateOptions<Data, Failure, Variables, Context>) => {
      if (isRunning.current) return;
      isRunning.current = true;
      start(variables, callbacks);
    },
    [start],
  );
  return { ...mutation, mutate } as UseMutationResult<Data, Failure, Variables, Context>;
}
