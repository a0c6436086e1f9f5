// The sizes that the user can give a page: those of common devices.
import type { Size } from "./element";

export type DeviceName = "phone" | "tablet" | "desktop";

/** In CSS pixels. */
export interface Device extends Size {
  readonly name: DeviceName;
  /** Its longer side is the other one than usually. */
  readonly turned: boolean;
  /** Pixels of the screen for each of CSS. */
  readonly scale: number;
  /** It has a touch screen, and obeys the page's `viewport`. */
  readonly mobile: boolean;
}

const devices: Record<DeviceName, Size & Pick<Device, "scale" | "mobile">> = {
  phone: { width: 390, height: 844, scale: 3, mobile: true },
  tablet: { width: 820, height: 1180, scale: 2, mobile: true },
  desktop: { width: 1440, height: 900, scale: 1, mobile: false },
};

export function deviceOf(name: DeviceName, turned: boolean): Device {
  const { width, height, ...more } = devices[name];
  return { name, turned, ...more, ...(turned ? { width: height, height: width } : { width, height }) };
}
