! SPDX-License-Identifier: BSD-3-Clause
! heat - a coarray program: a rod in parts; each step puts its ends into the neighbours' halos, and every tenth adds up
program heat
  implicit none
  integer, parameter :: n = 1000, steps = 300
  real(8), allocatable :: u(:)[:]
  real(8) :: next(n), total
  integer :: hottest[*]
  integer :: me, all, step, i

  me = this_image()
  all = num_images()
  allocate (u(0:n + 1)[*])
  u = 0
  if (me == 1) u(0) = 100
  do step = 1, steps
    sync all
    if (me > 1) u(n + 1)[me - 1] = u(1)
    if (me < all) u(0)[me + 1] = u(n)
    sync all
    do i = 1, n
      next(i) = u(i) + 0.4d0*(u(i - 1) - 2*u(i) + u(i + 1))
    end do
    u(1:n) = next
    if (mod(step, 10) == 0) then
      total = sum(u(1:n))
      call co_sum(total)
    end if
    if (mod(step, 50) == 0) then
      critical
        hottest[1] = me
      end critical
    end if
  end do
  sync all
  if (me == 1) then
    do i = 1, all
      total = total + u(n)[i]
    end do
    print '(a, es20.12)', 'heat', total
  end if
end program heat
