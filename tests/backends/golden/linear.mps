* ircert 0.2.0
* problem: local
* norm: inf
* model: gr\xf6\xdfe 012345678901234567890123456789012345678901234567890123456789012345678901234567890
* 123456789012345678901234567890123456789012345678901234567890123456789
* goal: maximise
* size: 8 variables, 3 of them integer, 4 linear rows, 8 nonzeros, 0 quadratic rows
NAME ircert FREE
* CBC up to 2.10 and GLPK do not know OBJSENSE: give them an .lp file, or the minimising form
OBJSENSE
    MAX
ROWS
 N obj
 L r_0
 G r_1
 E r_2
 L r_3
COLUMNS
 x_0 obj 1.0
 x_0 r_0 0.1
 x_1 obj 0.0
 x_1 r_1 1e-07
 x_1 r_2 1.0
 x_2 obj 0.1
 x_2 r_0 -0.3333333333333333
 x_2 r_1 123456789.12345679
 relu.h1.x_0 obj -1.0
 relu.h1.x_0 r_1 -2.0
 relu.h1.x_1 obj 0.0
 MARKER 'MARKER' 'INTORG'
 F_0 obj 0.0
 F_0 r_0 1.0
 F_1 obj 0.0
 count_0 obj 0.3333333333333333
 count_0 r_2 1.0
 MARKER 'MARKER' 'INTEND'
 one obj 4.25
RHS
 rhs r_0 1.0
 rhs r_1 -20.0
 rhs r_2 0.1
BOUNDS
 LO bnd x_0 -1.0
 UP bnd x_0 0.3333333333333333
 FR bnd x_1
 MI bnd x_2
 UP bnd x_2 7.5
 LO bnd relu.h1.x_0 2.0
 LO bnd relu.h1.x_1 0.0
 UP bnd relu.h1.x_1 1.0
 LO bnd F_0 0.0
 UP bnd F_0 1.0
 LO bnd F_1 1.0
 UP bnd F_1 1.0
 LO bnd count_0 -3.0
 UP bnd count_0 -1.0
 LO bnd one 1.0
 UP bnd one 1.0
ENDATA
