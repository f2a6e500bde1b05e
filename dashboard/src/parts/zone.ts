import { createContext, useContext } from 'react';

const ZoneContext = createContext('UTC');

/** Gives every time below it the person's zone. */
export const ZoneProvider = ZoneContext.Provider;
export const useZone = (): string => useContext(ZoneContext);
